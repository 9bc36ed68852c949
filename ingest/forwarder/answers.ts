/** Commands to the forwarder's thread that it answers, each by an id. */

export interface Answers<Answer> {
  /** `send` sends the command with this id. Resolves with the answer of the thread. */
  ask(send: (id: number) => void): Promise<Answer>
  answered(id: number, answer: Answer): void
}

export function createAnswers<Answer>(): Answers<Answer> {
  /** Resolvers of the pending calls: erase jobs run one after the other, and operators remove dead letters, so they are few. */
  const waiting = new Map<number, (answer: Answer) => void>()
  let nextId = 0
  return {
    ask(send) {
      const id = nextId++
      const answer = new Promise<Answer>(resolve => waiting.set(id, resolve))
      send(id)
      return answer
    },
    answered(id, answer) {
      waiting.get(id)?.(answer)
      waiting.delete(id)
    },
  }
}
