/** The normative statements of a standard, and those of which a test has a row or a reason why it has none. */

interface Test {
  strictSame(found: unknown, wanted: unknown, text: string): unknown
}

export interface Statements {
  /** The numbers of the statements by section. */
  sections: Record<string, [from: number, to: number]>
  /** Each begins with its statements, with blanks between them. */
  rows: readonly (readonly [statements: string, ...unknown[]])[]
  withoutRow: readonly (readonly [why: string, statements: string])[]
}

/** Every statement is covered, and there are no others. */
export function checkStatements(t: Test, { sections, rows, withoutRow }: Statements): void {
  const all = Object.entries(sections).flatMap(([section, [from, to]]) => {
    return Array.from({ length: to - from + 1 }, (_, index) => `${section.split(' ')[0]}-${from + index}`)
  })
  const covered = [...rows.map(([ids]) => ids), ...withoutRow.map(([, ids]) => ids)].flatMap(ids => ids.split(' '))
  t.strictSame(
    all.filter(id => !covered.includes(id)),
    [],
    'none is left out',
  )
  t.strictSame(
    covered.filter(id => !all.includes(id)),
    [],
    'there are no others',
  )
}
