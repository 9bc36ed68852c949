/** Facts one behind the other, with a dot between them. */

import { type ComponentChildren, Fragment } from 'preact'

/** Undefined and an empty one are left out. */
export type Fact = ComponentChildren

export function Facts({ facts }: { facts: readonly Fact[] }) {
  const given = facts.filter(fact => fact !== undefined && fact !== '')
  return (
    <>
      {given.map((fact, place) => (
        <Fragment key={place}>
          {place === 0 ? null : ' · '}
          {fact}
        </Fragment>
      ))}
    </>
  )
}
