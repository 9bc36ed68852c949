/** What QuestDB answers to a statement, as arrays. */

import type { Store } from '../../store/store.ts'

export async function questdbRows({ questdb }: Store, sql: string): Promise<unknown[][]> {
  const { host, port, authorization = '' } = questdb.address.http
  const url = `http://${host}:${port}/exec?query=${encodeURIComponent(sql)}`
  const response = await fetch(url, { headers: { authorization } })
  return ((await response.json()) as { dataset: unknown[][] }).dataset
}
