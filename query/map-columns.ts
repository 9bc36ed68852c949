/** One value for each name, like the columns of a series. */
export function mapColumns<Name extends string, Value>(
  names: readonly Name[],
  columnOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map(name => [name, columnOf(name)])) as Record<Name, Value>
}
