/** A family's part of the contract, made of a list of its routes, for families whose routes are registered elsewhere. */

import type { z } from 'zod'
import type { ErrorEntry } from '../http/errors.ts'
import type { Method, Operation, OperationFamily } from '../http/operation.ts'
import type { Contract } from './contract.ts'
import { publishOperations } from './published-operations.ts'

interface PublishedRoute extends Omit<Operation, 'method' | 'parameters' | 'refusals'> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With parameters in braces: `/api/device/{device}`. */
  path: string
  parameters?: Partial<Record<'path' | 'query' | 'header', z.ZodType>>
  refusals: readonly ErrorEntry[]
}

export interface PublishedFamily extends Pick<OperationFamily, 'tag' | 'error' | 'securitySchemes'> {
  routes: readonly PublishedRoute[]
  /** Of every route, and of those with parameters in the path, which may be too long or impossible to decode. */
  refusals: { all: readonly ErrorEntry[]; paths: readonly ErrorEntry[] }
}

export function publishRoutes({ routes, refusals, ...family }: PublishedFamily): Contract {
  const operations = routes.map(({ method, refusals: own, ...route }) => {
    const entries = [...own, ...refusals.all, ...(route.path.includes('{') ? refusals.paths : [])]
    return { ...route, method: method.toUpperCase() as Method, entries }
  })
  return publishOperations({ ...family, prefix: '', operations, refusalsOf: ({ entries }) => entries })
}
