/** An error that ends a command: a one-sentence message and an exit status. */

export const exitFailure = 1
export const exitUsage = 2
/** Some lines of a file were rejected. */
export const exitRejected = 3
export const exitInterrupted = 130

export class CommandError extends Error {
  readonly exitStatus: number

  constructor(sentence: string, exitStatus: number = exitFailure) {
    super(sentence)
    this.name = 'CommandError'
    this.exitStatus = exitStatus
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Reports a failure of the file system in one sentence. */
export function withFile<Result>(file: string, verb: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new CommandError(`${file} cannot be ${verb}: ${messageOf(error)}`)
  }
}
