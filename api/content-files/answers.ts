/** What is said when there is nothing to show, and what OPTIONS says: Django REST framework's words and shapes. */

import { argumentsMax } from '../http/query-limits.ts'
import { type Answer, answerOf } from './answer.ts'
import type { FilterErrors } from './filters.ts'

export const allowedMethods = ['GET', 'HEAD', 'OPTIONS']

const errors = {
  PATH_UNMATCHED: { status: 404, detail: 'The specified resource was not found.', type: 'Http404' },
  FORMAT_UNKNOWN: { status: 404, detail: 'Not found.', type: 'Http404' },
  ID_INVALID: { status: 404, detail: 'Not found.', type: 'Http404' },
  FILE_UNKNOWN: { status: 404, detail: 'No ContentFile matches the given query.', type: 'Http404' },
  TOO_MANY_ARGUMENTS: {
    status: 400,
    detail: `The query string has more than ${argumentsMax} arguments.`,
    type: 'TooManyFieldsSent',
  },
  NOT_ACCEPTABLE: { status: 406, detail: 'Could not satisfy the request Accept header.', type: 'NotAcceptable' },
  INTERNAL: { status: 500, detail: 'A server error occurred.', type: 'APIException' },
  UNAVAILABLE: {
    status: 503,
    detail: 'Service temporarily unavailable, try again later.',
    type: 'ServiceUnavailable',
  },
} satisfies Record<string, { status: number; detail: string; type: string }>

export function errorAnswer(code: keyof typeof errors): Answer {
  const { status, detail, type } = errors[code]
  return answerOf(status, { detail, error_type: type })
}

export function methodNotAllowed(method: string): Answer {
  return answerOf(405, { detail: `Method "${method}" not allowed.`, error_type: 'MethodNotAllowed' })
}

export function invalidFilters(messages: FilterErrors): Answer {
  return answerOf(400, { ...messages, error_type: 'ValidationError' })
}

/** Names and description are also those of the browsable page. */
export const description = 'Viewset for ContentFiles'
export const names = { list: 'Content File List', file: 'Content File Instance' } as const

export function optionsAnswer(kind: keyof typeof names): Answer {
  return answerOf(200, {
    name: names[kind],
    description,
    renders: ['application/json', 'text/html'],
    parses: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  })
}
