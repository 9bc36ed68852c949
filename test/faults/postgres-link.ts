/** A way to PostgreSQL that can be cut, for one process alone. */

import type { TestHooks } from '../support/databases.ts'
import type { Databases } from './databases.ts'
import { createRandom } from './seeded-random.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface PostgresLink {
  link: TcpProxy
  /** DATABASE_URL by way of it. */
  url: string
}

export async function startPostgresLink(
  hooks: TestHooks,
  { postgresSocket, postgresUrl }: Pick<Databases, 'postgresSocket' | 'postgresUrl'>,
): Promise<PostgresLink> {
  const link = await startTcpProxy(hooks, postgresSocket, createRandom(1))
  return { link, url: new URL(postgresUrl.replace(/@.*\//, `@127.0.0.1:${link.port}/`)).href }
}
