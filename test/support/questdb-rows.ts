/** QuestDB's rows for a statement, as arrays, or none for other results. */

import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'

export async function questdbRows(
  { questdb }: { questdb: { address: { http: Pick<QuestdbHttp, 'host' | 'port' | 'authorization'> } } },
  sql: string,
): Promise<unknown[][]> {
  const { host, port, authorization = '' } = questdb.address.http
  const url = `http://${host}:${port}/exec?query=${encodeURIComponent(sql)}`
  const response = await fetch(url, { headers: { authorization } })
  const answer = (await response.json()) as { dataset?: unknown[][]; error?: string }
  if (answer.error !== undefined) throw new Error(`${sql}: ${answer.error}`)
  return answer.dataset ?? []
}
