/** Statements to the managed QuestDB of a service, past the service. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { questdbRows } from './questdb-rows.ts'

/** A setting of its start, empty if unset. */
export function managedSetting(dataDirectory: string): (name: string) => string {
  const root = questdbRoot({ questdb: join(dataDirectory, 'questdb') })
  const lines = readFileSync(join(root, 'conf', 'server.conf'), 'utf8').split('\n')
  return name => lines.find(line => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}

export function askQuestdb(dataDirectory: string, statement: string): Promise<unknown[][]> {
  const setting = managedSetting(dataDirectory)
  const credentials = Buffer.from(`${setting('http.user')}:${setting('http.password')}`).toString('base64')
  const [host = '', port] = setting('http.bind.to').split(':')
  const http = { host, port: Number(port), authorization: `Basic ${credentials}` }
  return questdbRows({ questdb: { address: { http } } }, statement)
}
