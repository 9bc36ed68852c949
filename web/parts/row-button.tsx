/** A button of a row. The name of the row is for those who hear the buttons one by one. */

export function RowButton({ name, text, onClick }: { name: string; text: string; onClick: () => void }) {
  return (
    <button type="button" class="button" onClick={onClick}>
      {text}
      <span class="unseen"> {name}</span>
    </button>
  )
}
