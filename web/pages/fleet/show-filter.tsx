/** Selects the list or the map. */

export interface ShowFilterProps {
  isMap: boolean
  onChange: (isMap: boolean) => void
}

export function ShowFilter({ isMap, onChange }: ShowFilterProps) {
  return (
    <label>
      <span class="unseen">Show</span>
      <select value={isMap ? 'map' : 'list'} onChange={({ currentTarget }) => onChange(currentTarget.value === 'map')}>
        <option value="list">List</option>
        <option value="map">Map</option>
      </select>
    </label>
  )
}
