/** A command that cannot go on: one sentence for the person at the terminal, and the exit status for the script. */

export const exitFailure = 1
export const exitUsage = 2
/** Some lines of a file were not taken. */
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
