/** Declares the common contract of operations that accept readings. */

import { z } from 'zod'
import type { LoggerErrorCode } from '../http/status-operations.ts'

export const IdempotencyKey = z.object({
  'Idempotency-Key': z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'A request that is sent again with its key is stored once.' }),
})

export const writeCredentials = ['device', 'apiKey', 'bearerKey']

export const refusalsOfWrites: readonly LoggerErrorCode[] = [
  'JSON_INVALID',
  'PAYLOAD_INVALID',
  'KEY_INVALID',
  'UNAUTHORIZED',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'MEDIA_TYPE_UNSUPPORTED',
  'KEY_REUSED',
  'TOO_MANY_ATTEMPTS',
  'TOO_MANY_READINGS',
  'TOO_MANY_IDEMPOTENCY_KEYS_OF_WRITER',
  'TOO_MANY_IDEMPOTENCY_KEYS',
  'STORAGE_FAILED',
  'STORAGE_FULL',
  'CLOSING',
  'DATABASE_AWAY',
]
