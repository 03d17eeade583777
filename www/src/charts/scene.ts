/** A landscape as three.js draws it, into a canvas of the page or of a worker: nothing here knows of a page. */

import {
  AmbientLight,
  BufferAttribute,
  BufferGeometry,
  CatmullRomCurve3,
  Color,
  DirectionalLight,
  DoubleSide,
  Group,
  Line,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  type Object3D,
  PerspectiveCamera,
  RingGeometry,
  Scene,
  SphereGeometry,
  TubeGeometry,
  Vector3,
  WebGLRenderer,
} from "three";
import { type Heights, heightsOn, isWhole, lowest, type Relief, rowsOf } from "./heights";
import { levelSegments } from "./levels";
import { type Ramp, ramp } from "./palette";
import {
  FIRST_ORBIT,
  fieldOfView,
  HEIGHT,
  type Orbit,
  type Placer,
  placer,
  SIDE,
  spot,
  spotAt,
  TARGET,
} from "./relief";
import type { Canvas, Colours, Picture, Size } from "./surface-protocol";
import { finely, isOn, type Place, placesOf, weightsAt } from "./way";

/**
 * What a view draws with, made once: a material that is let go takes its compiled program with it, and to compile it again for
 * every frame of a moving slider is slower than to draw.
 */
class Materials {
  readonly surface = new MeshLambertMaterial({
    vertexColors: true,
    side: DoubleSide,
    polygonOffset: true,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
  });
  readonly grid = new LineBasicMaterial({ transparent: true, opacity: 0.22 });
  readonly levels = new LineBasicMaterial({ transparent: true, opacity: 0.75 });
  readonly floor = new LineBasicMaterial({ transparent: true, opacity: 0.8 });
  readonly stem = new LineBasicMaterial({ depthTest: false });
  readonly mark = new MeshBasicMaterial({ depthTest: false });
  readonly way = new MeshBasicMaterial();
  /** Where a ridge stands before it. */
  readonly wayStart = new MeshBasicMaterial({ depthTest: false });
  readonly hiddenWay = new MeshBasicMaterial({ transparent: true, opacity: 0.3, depthTest: false });

  colour({ grid, level, floor, pin, way }: Colours): void {
    this.grid.color.set(grid);
    this.levels.color.set(level);
    this.floor.color.set(floor);
    this.stem.color.set(pin);
    this.mark.color.set(pin);
    this.way.color.set(way);
    this.wayStart.color.set(way);
    this.hiddenWay.color.set(way);
  }

  dispose(): void {
    const { surface, grid, levels, floor, stem, mark, way, wayStart, hiddenWay } = this;
    for (const material of [surface, grid, levels, floor, stem, mark, way, wayStart, hiddenWay]) material.dispose();
  }
}

/** A context that is taken away with a driver that begins anew comes back; one that others were given does not. */
const PATIENCE_MS = 500;

export class SurfaceScene {
  readonly #materials = new Materials();
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(30, 1, 0.1, 50);
  readonly #content = new Group();
  /** What is to be seen and is not yet built: of a slider that moves, the last. */
  #next: Picture | undefined;
  #size: Size | undefined;
  #isOver = false;
  #frame = 0;
  /** Until its WebGL context counts as lost; 0 while nobody has taken it away. */
  #losing: ReturnType<typeof setTimeout> | 0 = 0;

  /** Throws where there is no WebGL. `drawn` is told of each frame, `lost` when the browser has taken the context away and not given it back. */
  constructor(
    canvas: Canvas,
    private readonly drawn: () => void,
    lost: () => void,
  ) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    const sun = new DirectionalLight(0xffffff, 1.9);
    sun.position.set(-2, 3.5, 1.4);
    this.#scene.add(this.#content, new AmbientLight(0xffffff, 1.7), sun);
    this.turn(FIRST_ORBIT);
    canvas.addEventListener("webglcontextlost", () => {
      if (!this.#isOver) this.#losing = setTimeout(lost, PATIENCE_MS);
    });
    canvas.addEventListener("webglcontextrestored", () => {
      clearTimeout(this.#losing);
      this.#losing = 0;
      this.#later();
    });
  }

  show(picture: Picture): void {
    this.#next = picture;
    this.#later();
  }

  turn({ position, zoom }: Orbit): void {
    this.#camera.position.set(...position);
    this.#camera.zoom = zoom;
    this.#camera.lookAt(...TARGET);
    this.#camera.updateProjectionMatrix();
    this.#later();
  }

  /** Drawn at once: a canvas of another size is empty. */
  fit(size: Size): void {
    const { width, height, ratio } = size;
    const before = this.#size;
    if (before?.width === width && before.height === height && before.ratio === ratio) return;
    this.#size = size;
    this.#renderer.setPixelRatio(ratio);
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.fov = fieldOfView(this.#camera.aspect);
    this.#camera.updateProjectionMatrix();
    this.#draw();
  }

  dispose(): void {
    this.#isOver = true;
    clearTimeout(this.#losing);
    cancelAnimationFrame(this.#frame);
    this.#clear();
    this.#materials.dispose();
    this.#renderer.dispose();
    // Browsers allow few WebGL contexts at a time, and collect them late.
    this.#renderer.forceContextLoss();
  }

  #later(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw(): void {
    const next = this.#next;
    this.#next = undefined;
    if (next) this.#build(next);
    if (this.#content.children.length === 0 || !this.#size) return;
    this.#renderer.render(this.#scene, this.#camera);
    this.drawn();
  }

  #build({ landscape, scale, colours, theme }: Picture): void {
    this.#clear();
    const materials = this.#materials;
    materials.colour(colours);
    const heights = heightsOn(scale);
    const place = placer(landscape, heights);
    this.#content.add(
      new Mesh(surface(landscape, heights, place, ramp(theme)), materials.surface),
      new LineSegments(gridLines(landscape, place), materials.grid),
      new LineSegments(levelLines(landscape, heights), materials.levels),
      new LineSegments(floor(), materials.floor),
      ...wayMarks(landscape, heights, materials),
      ...pins(landscape, heights, place, materials),
    );
  }

  #clear(): void {
    for (const child of [...this.#content.children]) {
      this.#content.remove(child);
      if (child instanceof Mesh || child instanceof Line) child.geometry.dispose();
    }
  }
}

function surface(landscape: Relief, heights: Heights, place: Placer, colour: Ramp): BufferGeometry {
  const { s, loss } = landscape;
  const [nx, ny] = [s.length, rowsOf(landscape)];
  const positions = new Float32Array(nx * ny * 3);
  const colours = new Float32Array(nx * ny * 3);
  const paint = new Color();
  for (let j = 0; j < ny; j++)
    for (let i = 0; i < nx; i++) {
      const k = i + j * nx;
      positions.set(place(i, j), 3 * k);
      paint.setRGB(...colour(heights.at(loss[k] ?? heights.high)), "srgb");
      colours.set([paint.r, paint.g, paint.b], 3 * k);
    }
  const triangles: number[] = [];
  for (let j = 0; j + 1 < ny; j++)
    for (let i = 0; i + 1 < nx; i++) {
      const k = i + j * nx;
      triangles.push(k, k + 1, k + nx, k + 1, k + nx + 1, k + nx);
    }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  geometry.setIndex(triangles);
  geometry.computeVertexNormals();
  return geometry;
}

/** Lines through the points that were computed, so that one sees what is measured and what is drawn between. */
function gridLines(landscape: Relief, place: Placer): BufferGeometry {
  const { s } = landscape;
  const rows = rowsOf(landscape);
  const points: number[] = [];
  for (let j = 0; j < rows; j++)
    for (let i = 0; i < s.length; i++) {
      if (i + 1 < s.length) points.push(...place(i, j, 0.001), ...place(i + 1, j, 0.001));
      if (j + 1 < rows) points.push(...place(i, j, 0.001), ...place(i, j + 1, 0.001));
    }
  return segments(points);
}

function levelLines(landscape: Relief, heights: Heights): BufferGeometry {
  const points = levelSegments(landscape, heights).flatMap(({ from, to, height }) =>
    [from, to].flatMap((place) => spotAt(landscape, place, height * HEIGHT + 0.004)),
  );
  return segments(points);
}

function floor(): BufferGeometry {
  const h = SIDE / 2;
  const corners = [-h, 0, -h, h, 0, -h, h, 0, -h, h, 0, h, h, 0, h, -h, 0, h, -h, 0, h, -h, 0, -h];
  const posts = [-h, 0, -h, -h, HEIGHT, -h, h, 0, -h, h, HEIGHT, -h, -h, 0, h, -h, HEIGHT, h];
  return segments([...corners, ...posts]);
}

function segments(points: number[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  return geometry;
}

/** A tube with a bead at each snapshot; the first one is a ring. */
function wayMarks(landscape: Relief, heights: Heights, { way, wayStart, hiddenWay }: Materials): Object3D[] {
  const places = placesOf(landscape);
  const at = (place: Place): Vector3 => new Vector3(...spot(landscape, heights, place, 0.014));
  const marks: Mesh[] = [];
  const add = (geometry: BufferGeometry, position = new Vector3()): void => {
    for (const material of [hiddenWay, way]) {
      const mesh = new Mesh(geometry, material);
      mesh.position.copy(position);
      marks.push(mesh);
    }
  };
  for (const part of finely(landscape, places)) {
    add(new TubeGeometry(new CatmullRomCurve3(part.map(at)), 2 * part.length, 0.009, 6));
  }
  const there = places.filter((place) => isOn(landscape, place));
  for (const place of there) add(new SphereGeometry(0.017, 12, 8), at(place));
  const [start] = places;
  if (start && there.includes(start)) {
    const ring = new Mesh(new RingGeometry(0.042, 0.062, 32), wayStart);
    ring.position.copy(at(start));
    ring.renderOrder = 2;
    // It faces whoever looks.
    ring.onBeforeRender = (_, __, camera) => {
      ring.quaternion.copy(camera.quaternion);
      ring.updateMatrixWorld();
    };
    marks.push(ring);
  }
  return marks;
}

function pins(landscape: Relief, heights: Heights, place: Placer, { stem: line, mark }: Materials): Object3D[] {
  // The lowest point is known when all rows are.
  const weights = weightsAt(landscape);
  if (!isOn(landscape, weights)) return [];
  const centre = spot(landscape, heights, weights);
  const head = new Mesh(new SphereGeometry(0.03, 20, 14), mark);
  head.position.set(centre[0], centre[1] + 0.3, centre[2]);
  head.renderOrder = 2;
  const stem = new LineSegments(segments([...centre, centre[0], centre[1] + 0.3, centre[2]]), line);
  if (!isWhole(landscape)) return [stem, head];
  const low = lowest(landscape);
  const ring = new Mesh(new RingGeometry(0.045, 0.062, 32), mark);
  ring.position.set(...place(low.i, low.j, 0.008));
  ring.rotation.x = -Math.PI / 2;
  ring.renderOrder = 2;
  return [stem, head, ring];
}
