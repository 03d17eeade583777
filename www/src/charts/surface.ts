/** The landscape as a relief: shaded surface, the grid's own lines, level lines, a pin at the weights. */

import { contours } from "d3-contour";
import type { Landscape } from "isoflat";
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
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { token } from "../dom";
import { number } from "../format";
import { type Heights, isWhole, lowest, rowsOf } from "./heights";
import { ramp } from "./palette";
import { fieldOfView, HEIGHT, type Orbit, type Placer, placer, SIDE, TARGET } from "./relief";
import { finely, heightAt, isOn, type Place, placesOf, weightsAt } from "./way";

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

  /** In the colours of the theme. */
  colour(): void {
    this.grid.color.set(token("surface-line"));
    this.levels.color.set(token("ink"));
    this.floor.color.set(token("line-strong"));
    this.stem.color.set(token("pin"));
    this.mark.color.set(token("pin"));
    this.way.color.set(token("way"));
    this.wayStart.color.set(token("way"));
    this.hiddenWay.color.set(token("way"));
  }

  dispose(): void {
    const { surface, grid, levels, floor, stem, mark, way, wayStart, hiddenWay } = this;
    for (const material of [surface, grid, levels, floor, stem, mark, way, wayStart, hiddenWay]) material.dispose();
  }
}

export class SurfaceView {
  readonly #materials = new Materials();
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(30, 1, 0.1, 50);
  readonly #controls: OrbitControls;
  readonly #content = new Group();
  readonly #canvas: HTMLCanvasElement;
  readonly #resize: ResizeObserver;
  #frame = 0;

  /** Throws where the browser has no WebGL. */
  constructor(
    private readonly view: HTMLElement,
    private readonly onOrbit: (from: SurfaceView) => void,
  ) {
    this.#renderer = new WebGLRenderer({ antialias: true, alpha: true });
    this.#renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.#canvas = this.#renderer.domElement;
    this.#canvas.tabIndex = 0;
    this.#canvas.setAttribute("role", "img");
    this.view.replaceChildren(this.#canvas);
    const sun = new DirectionalLight(0xffffff, 1.9);
    sun.position.set(-2, 3.5, 1.4);
    this.#scene.add(this.#content, new AmbientLight(0xffffff, 1.7), sun);
    this.#camera.position.set(2.55, 2.35, 3.5);
    this.#controls = new OrbitControls(this.#camera, this.#canvas);
    this.#controls.target.set(...TARGET);
    this.#controls.enablePan = false;
    this.#controls.minDistance = 2.5;
    this.#controls.maxDistance = 12;
    this.#controls.maxPolarAngle = Math.PI * 0.52;
    // Wheel and one finger belong to the page's scrolling unless the surface has the focus.
    this.#controls.enableZoom = false;
    this.#canvas.addEventListener("focus", () => this.#setZoom(true));
    this.#canvas.addEventListener("blur", () => this.#setZoom(false));
    this.#canvas.addEventListener("keydown", (event) => this.#onKey(event));
    this.#canvas.style.touchAction = "pan-y";
    this.#controls.addEventListener("change", () => {
      this.render();
      this.onOrbit(this);
    });
    this.#controls.update();
    this.#resize = new ResizeObserver(() => this.#fit());
    this.#resize.observe(this.view);
  }

  show(landscape: Landscape, heights: Heights): void {
    this.#clear();
    const materials = this.#materials;
    materials.colour();
    const place = placer(landscape, heights);
    this.#content.add(
      new Mesh(surface(landscape, heights, place), materials.surface),
      new LineSegments(gridLines(landscape, place), materials.grid),
      new LineSegments(levelLines(landscape, heights), materials.levels),
      new LineSegments(floor(), materials.floor),
      ...wayMarks(landscape, heights, materials),
      ...pins(landscape, heights, place, materials),
    );
    const low = lowest(landscape);
    this.#canvas.dataset.rows = String(rowsOf(landscape));
    this.#canvas.dataset.way = String(placesOf(landscape).length);
    const known = isWhole(landscape)
      ? `${number(landscape.center)} at the weights (pin), lowest ${number(low.loss)} (ring)`
      : `${rowsOf(landscape)} of ${landscape.t.length} rows so far, lowest ${number(low.loss)}`;
    this.#canvas.setAttribute(
      "aria-label",
      `Loss surface: ${known}${landscape.path ? "; the way of the training is drawn on it" : ""}. Arrow keys turn it, plus and minus zoom, Home returns.`,
    );
    this.render();
  }

  get orbit(): Orbit {
    const { x, y, z } = this.#camera.position;
    return { position: [x, y, z], zoom: this.#camera.zoom };
  }

  set orbit({ position, zoom }: Orbit) {
    this.#camera.position.set(...position);
    this.#camera.zoom = zoom;
    this.#camera.lookAt(this.#controls.target);
    this.#camera.updateProjectionMatrix();
    this.render();
  }

  render(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#renderer.render(this.#scene, this.#camera);
    });
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    this.#resize.disconnect();
    this.#controls.dispose();
    this.#clear();
    this.#materials.dispose();
    this.#renderer.dispose();
    // Browsers allow few WebGL contexts at a time, and collect them late.
    this.#renderer.forceContextLoss();
    this.view.replaceChildren();
  }

  #setZoom(on: boolean): void {
    this.#controls.enableZoom = on;
    this.#canvas.style.touchAction = on ? "none" : "pan-y";
  }

  #onKey(event: KeyboardEvent): void {
    const turn = Math.PI / 24;
    const offset = this.#camera.position.clone().sub(this.#controls.target);
    const up = Math.atan2(offset.y, Math.hypot(offset.x, offset.z));
    let around = Math.atan2(offset.x, offset.z);
    let lift = up;
    let distance = offset.length();
    if (event.key === "ArrowLeft") around -= turn;
    else if (event.key === "ArrowRight") around += turn;
    else if (event.key === "ArrowUp") lift = Math.min(up + turn, 1.5);
    else if (event.key === "ArrowDown") lift = Math.max(up - turn, 0);
    else if (event.key === "+" || event.key === "=") distance = Math.max(2.5, distance / 1.12);
    else if (event.key === "-") distance = Math.min(12, distance * 1.12);
    else if (event.key === "Home") [around, lift, distance] = [0.63, 0.423, 4.75];
    else return;
    event.preventDefault();
    offset.set(Math.sin(around) * Math.cos(lift), Math.sin(lift), Math.cos(around) * Math.cos(lift));
    this.#camera.position.copy(this.#controls.target).addScaledVector(offset, distance);
    this.#controls.update();
  }

  #fit(): void {
    const { clientWidth: width, clientHeight: height } = this.view;
    if (width === 0 || height === 0) return;
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.fov = fieldOfView(this.#camera.aspect);
    this.#camera.updateProjectionMatrix();
    this.#renderer.render(this.#scene, this.#camera);
  }

  #clear(): void {
    for (const child of [...this.#content.children]) {
      this.#content.remove(child);
      if (child instanceof Mesh || child instanceof Line) child.geometry.dispose();
    }
  }
}

function surface(landscape: Landscape, heights: Heights, place: Placer): BufferGeometry {
  const { s, loss } = landscape;
  const [nx, ny] = [s.length, rowsOf(landscape)];
  const colour = ramp();
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
function gridLines(landscape: Landscape, place: Placer): BufferGeometry {
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

function levelLines(landscape: Landscape, heights: Heights): BufferGeometry {
  const { s, t, loss } = landscape;
  const rows = rowsOf(landscape);
  const points: number[] = [];
  const values = Array.from(loss, (value) => heights.at(value));
  const put = ([c = 0, r = 0]: number[], height: number) =>
    points.push(((c - 0.5) / (s.length - 1) - 0.5) * SIDE, height, (0.5 - (r - 0.5) / (t.length - 1)) * SIDE);
  const inside = ([c = 0, r = 0]: number[]) => c > 0.5 && r > 0.5 && c < s.length - 0.5 && r < rows - 0.5;
  const shapes = contours()
    .size([s.length, rows])
    .thresholds(heights.levels.map((level) => heights.at(level)))(values);
  for (const { coordinates, value } of shapes) {
    for (const ring of coordinates.flat()) {
      for (let k = 0; k + 1 < ring.length; k++) {
        const [from, to] = [ring[k], ring[k + 1]];
        if (!from || !to || !inside(from) || !inside(to)) continue;
        put(from, value * HEIGHT + 0.004);
        put(to, value * HEIGHT + 0.004);
      }
    }
  }
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

/** On the surface at any place of it. */
function spot(landscape: Landscape, heights: Heights, place: Place, lift = 0): [number, number, number] {
  const { s, t } = landscape;
  return [
    (place.i / (s.length - 1) - 0.5) * SIDE,
    heightAt(landscape, heights, place) * HEIGHT + lift,
    (0.5 - place.j / (t.length - 1)) * SIDE,
  ];
}

/** A tube with a bead at each snapshot; the first one is a ring. */
function wayMarks(landscape: Landscape, heights: Heights, { way, wayStart, hiddenWay }: Materials): Object3D[] {
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

function pins(landscape: Landscape, heights: Heights, place: Placer, { stem: line, mark }: Materials): Object3D[] {
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
