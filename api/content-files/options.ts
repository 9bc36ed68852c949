/** Writes the OPTIONS answer of a route as Django REST framework does. */

import { type Answer, answerOf } from './answer.ts'

export const allowedMethods = ['GET', 'HEAD', 'OPTIONS']

/** The browsable page shows the same names and description. */
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
