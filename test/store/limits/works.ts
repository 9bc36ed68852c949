/** Works that end when a test says so, and what is seen of them. */

export interface Seen {
  /** In their order. */
  started: number[]
  /** By work. */
  outcomes: Record<number, string>
}

export function startWorks() {
  const seen: Seen = { started: [], outcomes: {} }
  const running: ((isDone: boolean) => void)[] = []

  /** Asks for the work; `run` is what limits it. */
  async function ask(id: number, run: (work: () => Promise<string>) => Promise<string>): Promise<void> {
    async function work(): Promise<string> {
      seen.started.push(id)
      if (await new Promise<boolean>(end => running.push(end))) return 'done'
      throw new Error('failed')
    }
    seen.outcomes[id] = await run(work).catch((error: Error) => error.message)
  }

  return { seen, ask, end: (at: number, isDone: boolean) => running.splice(at % running.length, 1)[0]?.(isDone) }
}

export const settled = () => new Promise(setImmediate)
