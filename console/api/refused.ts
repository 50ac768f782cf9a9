/** The API refused, or could not be reached. `status` 0: no answer came. `code` as the API names its errors. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, string[]> = {},
    readonly retryAfterSeconds: number | undefined = undefined,
  ) {
    super(message);
  }

  /** Nobody answered, or the service is busy: the same request may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}
