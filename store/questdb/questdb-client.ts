/** The smallest caller of QuestDB's `/exec`: for our own statements only, never with a caller's text in them. */

import http from 'node:http'
import https from 'node:https'
import type { QuestdbAddress } from './questdb-address.ts'

export type Row = readonly (string | number | boolean | null)[]

export interface QuestdbClient {
  exec(sql: string, timeoutMs: number): Promise<readonly Row[]>
  close(): void
}

const answerBytesMax = 4 * 1024 * 1024

export function createQuestdbClient({ http: address }: QuestdbAddress): QuestdbClient {
  const module = address.tls ? https : http
  const agent = new module.Agent({ keepAlive: true, maxSockets: 2 })
  const headers = address.authorization === undefined ? {} : { authorization: address.authorization }

  function get(path: string, timeoutMs: number): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs)
      const request = module.get({ host: address.host, port: address.port, path, agent, headers, signal })
      request.on('error', error => reject(signal.aborted ? new Error(`no answer within ${timeoutMs} ms`) : error))
      request.on('response', response => {
        const chunks: Buffer[] = []
        let length = 0
        response.on('data', (chunk: Buffer) => {
          length += chunk.length
          if (length > answerBytesMax) request.destroy(new Error(`an answer of more than ${answerBytesMax} bytes`))
          chunks.push(chunk)
        })
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
      })
    })
  }

  return {
    async exec(sql, timeoutMs) {
      const { status, body } = await get(`/exec?query=${encodeURIComponent(sql)}`, timeoutMs)
      if (status === 401 || status === 403) throw new Error(`it refuses the user or the password (${status})`)
      const answer = parseAnswer(body)
      if (answer === undefined) throw new Error(`it answers, but not as a QuestDB (${status})`)
      if (answer.error !== undefined) throw new Error(answer.error)
      return answer.dataset ?? []
    },
    close: () => agent.destroy(),
  }
}

function parseAnswer(body: string): { dataset?: Row[]; error?: string } | undefined {
  try {
    const answer: unknown = JSON.parse(body)
    const known =
      typeof answer === 'object' && answer !== null && ['ddl', 'dml', 'dataset', 'error'].some(key => key in answer)
    return known ? (answer as { dataset?: Row[]; error?: string }) : undefined
  } catch {
    return undefined
  }
}
