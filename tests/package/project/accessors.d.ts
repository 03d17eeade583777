/** Types of a platform that has its own, as Cloudflare's are: classes whose properties are accessors. */

declare abstract class AbortSignal {
  get aborted(): boolean;
  throwIfAborted(): void;
}
declare class Blob {
  get size(): number;
  arrayBuffer(): Promise<ArrayBuffer>;
}
declare class File extends Blob {
  get name(): string;
}
declare class Request {
  get url(): string;
  clone(): Request;
}
declare class Response {
  get ok(): boolean;
  clone(): Response;
}
declare class URL {
  get href(): string;
  set href(value: string);
}
