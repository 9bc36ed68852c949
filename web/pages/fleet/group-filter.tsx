/** Selects the tag key that groups the devices. */

export interface GroupFilterProps {
  keys: readonly string[]
  chosen: string | undefined
  onChange: (key: string) => void
}

export function GroupFilter({ keys, chosen, onChange }: GroupFilterProps) {
  if (keys.length === 0) return null
  return (
    <label>
      <span>Groups</span>
      <select value={chosen ?? ''} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">None</option>
        {keys.map(key => (
          <option key={key} value={key}>
            {key}
          </option>
        ))}
      </select>
    </label>
  )
}
