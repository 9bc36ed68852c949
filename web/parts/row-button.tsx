/** A button of a row. Screen readers read the row's name with it. */

export function RowButton({ name, text, onClick }: { name: string; text: string; onClick: () => void }) {
  return (
    <button type="button" class="button" onClick={onClick}>
      {text}
      <span class="unseen"> {name}</span>
    </button>
  )
}
