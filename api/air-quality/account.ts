/** `/auth/` and `/account`: checks an API key and shows its owner. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { accountObject } from './account-object.ts'
import { sendResource } from './answers.ts'
import type { AirQualityOperation, OperationInput } from './operation.ts'
import { checkKey, getAccount } from './operations.ts'

export function accountOperations(nowMs: () => number): AirQualityOperation[] {
  function check(_asked: OperationInput, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendResource(request, reply, { 'Authentication Check': 'All good!' })
  }

  function account({ key }: OperationInput, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendResource(request, reply, accountObject(key.account, nowMs()))
  }

  return [
    { ...checkKey, handle: check },
    { ...getAccount, handle: account },
  ]
}
