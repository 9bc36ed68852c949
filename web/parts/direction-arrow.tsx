/** An arrow at an angle: 0° is up, like north on a map. Adjacent text names the direction. */

export function DirectionArrow({ degrees }: { degrees: number }) {
  return (
    <svg class="direction" viewBox="-10 -10 20 20" aria-hidden="true">
      <path d="M0 -9 6 8 0 4 -6 8z" transform={`rotate(${degrees})`} />
    </svg>
  )
}
