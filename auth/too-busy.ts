/** A queue is full: the same call may succeed in a moment. */
export class TooBusy extends Error {
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds: number) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Error of a full semaphore. */
export function tooManyWait(): TooBusy {
  return new TooBusy('too many requests wait', 1)
}
