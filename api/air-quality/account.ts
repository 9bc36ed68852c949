/** `/auth/` and `/account`: whether an API key is good, and whose it is. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { accountObject } from './account-object.ts'
import { operations } from './contract/operations.ts'
import { sendResource } from './etag.ts'
import { type Asked, type Path, readOperation } from './paths.ts'

export function accountPaths(nowMs: () => number): Path[] {
  function check(_asked: Asked, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendResource(request, reply, { 'Authentication Check': 'All good!' })
  }

  function account({ key }: Asked, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendResource(request, reply, accountObject(key.account, nowMs()))
  }

  return [
    {
      url: '/auth',
      slash: 'required',
      methods: { GET: readOperation(operations.checkKey, check) },
    },
    {
      url: '/account',
      slash: 'either',
      methods: { GET: readOperation(operations.getAccount, account) },
    },
  ]
}
