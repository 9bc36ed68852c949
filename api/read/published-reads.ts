/** How a read of the logger stands in the contract, wherever its routes are: its conditions, answers and refusals. */

import { z } from 'zod'
import type { PublishedRoute } from '../docs/published-routes.ts'
import { type LoggerErrorCode, loggerErrors } from '../http/status-errors.ts'

export const LoggerError = z
  .object({
    status: z.string().meta({ description: 'What is wrong.' }),
    detail: z.string().optional(),
    errors: z.record(z.string(), z.string()).optional().meta({ description: 'What is wrong with each field.' }),
  })
  .meta({ id: 'LoggerError' })

export const Device = z.object({ device: z.string().meta({ description: 'The name of a device' }) })
const etag = { ETag: { description: 'Of this answer', schema: { type: 'string' } } }
const unchanged = {
  304: { description: 'If-None-Match has the ETag of this answer', headers: etag },
}

/** Of who reads, and of parameters that a read does not know; with open reads, some are nobody's. */
export const ofReaders: readonly LoggerErrorCode[] = [
  ...(['UNAUTHORIZED', 'FORBIDDEN', 'DEVICE_MISMATCH', 'EMAIL_UNVERIFIED', 'TOO_MANY_ATTEMPTS'] as const),
  'PARAMETER_INVALID',
]

/** Of every read. */
export const ofReads: readonly LoggerErrorCode[] = [
  ...ofReaders,
  ...(['TOO_MANY_PARAMETERS', 'DATABASE_AWAY', 'QUEUE_FULL', 'CLOSING', 'SENDING_TOO_MUCH'] as const),
]

type Read = Pick<PublishedRoute, 'path' | 'name' | 'summary' | 'parameters'> & {
  description?: string
  answer: z.ZodType
  refusals?: readonly LoggerErrorCode[]
}

export function read({ answer, refusals = [], ...route }: Read): PublishedRoute {
  return {
    ...route,
    method: 'get',
    parameters: { ...route.parameters, header: Conditions },
    success: { status: 200, description: 'The answer', json: answer },
    others: unchanged,
    refusals: errorsOf(...ofReads, ...refusals),
  }
}

const Conditions = z.object({ 'If-None-Match': z.string().optional().meta({ description: 'ETags, or *' }) })

export function errorsOf(...codes: readonly LoggerErrorCode[]) {
  return codes.map(code => loggerErrors[code])
}
