/** Operations of the logger API without the service, below `/api` on loopback. */

import type { AddressInfo } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import { type OperationGroup, registerGroup } from '../../api/http/route-family.ts'
import { type LoggerOperation, loggerRules } from '../../api/http/status-operations.ts'
import type { TestHooks } from '../support/databases.ts'

interface Served {
  app: FastifyInstance
  url: string
  port: number
}

export async function serveGroups(t: TestHooks, ...groups: OperationGroup<LoggerOperation>[]): Promise<Served> {
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true, maxParamLength: 768 } })
  for (const group of groups) {
    app.register(async scope => registerGroup(scope, group, loggerRules), { prefix: '/api' })
  }
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  return { app, url: `${url}/api`, port: (app.server.address() as AddressInfo).port }
}
