/** An angle as an arrow that points there, as a vane does: 0° is up, as north on a map. Words beside it tell it. */

export function DirectionArrow({ degrees }: { degrees: number }) {
  return (
    <svg class="direction" viewBox="-10 -10 20 20" aria-hidden="true">
      <path d="M0 -9 6 8 0 4 -6 8z" transform={`rotate(${degrees})`} />
    </svg>
  )
}
