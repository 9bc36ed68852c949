/** Statements to the managed QuestDB of a service, past the service. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export async function askQuestdb(dataDirectory: string, statement: string): Promise<unknown[][]> {
  const lines = readFileSync(join(dataDirectory, 'questdb/root/conf/server.conf'), 'utf8').split('\n')
  const setting = (name: string) => lines.find(line => line.startsWith(`${name}=`))?.slice(name.length + 1)
  const credentials = Buffer.from(`${setting('http.user')}:${setting('http.password')}`).toString('base64')
  const url = `http://${setting('http.bind.to')}/exec?query=${encodeURIComponent(statement)}`
  const response = await fetch(url, { headers: { authorization: `Basic ${credentials}` } })
  const answer = (await response.json()) as { dataset?: unknown[][] }
  if (answer.dataset === undefined) throw new Error(`${statement}: ${JSON.stringify(answer)}`)
  return answer.dataset
}
