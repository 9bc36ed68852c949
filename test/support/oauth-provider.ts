/** The provider of a drive: a real HTTP server that exchanges codes for tokens, or gives the test's answer. */

import type { ServerResponse } from 'node:http'
import { startAnswering } from './answering-server.ts'
import type { TestHooks } from './databases.ts'

export async function startProvider(t: TestHooks) {
  let answer: (response: ServerResponse) => void = () => undefined
  const { url, seen } = await startAnswering(t, (_request, _index, response) => {
    answer(response)
    return undefined
  })
  return {
    url,
    /** The forms that it was sent. */
    get forms(): Record<string, string>[] {
      return seen.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))
    },
    /** Sets how it answers from now on. */
    answerWith(next: typeof answer) {
      answer = next
    },
  }
}
