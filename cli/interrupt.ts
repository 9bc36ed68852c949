/** Ctrl-C in the middle of a long command. */

export interface Interrupt {
  signal: AbortSignal
  stop(): void
}

/** The first Ctrl-C ends the command behind the batch that is under way. The second one is left to the system. */
export function createInterrupt(): Interrupt {
  const controller = new AbortController()
  const abort = () => controller.abort()
  process.once('SIGINT', abort)
  return { signal: controller.signal, stop: () => process.off('SIGINT', abort) }
}
