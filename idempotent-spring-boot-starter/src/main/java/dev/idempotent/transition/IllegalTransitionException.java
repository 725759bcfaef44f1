package dev.idempotent.transition;

import java.util.Set;

/**
 * Thrown when {@link Transitions} do not allow one state to follow another. Nothing was
 * changed.
 */
public class IllegalTransitionException extends IllegalStateException {

	private final Enum<?> from;

	private final Enum<?> to;

	/**
	 * Creates an exception.
	 * @param from the state to leave
	 * @param to the state that may not follow it
	 * @param allowed the states that may
	 */
	public IllegalTransitionException(Enum<?> from, Enum<?> to, Set<? extends Enum<?>> allowed) {
		super("%s does not allow a transition from %s to %s: %s".formatted(from.getDeclaringClass().getSimpleName(),
				from.name(), to.name(), describe(from, allowed)));
		this.from = from;
		this.to = to;
	}

	/**
	 * Returns the state to leave.
	 * @return a constant of the enum
	 */
	public Enum<?> getFrom() {
		return this.from;
	}

	/**
	 * Returns the state that may not follow it.
	 * @return a constant of the same enum
	 */
	public Enum<?> getTo() {
		return this.to;
	}

	private static String describe(Enum<?> from, Set<? extends Enum<?>> allowed) {
		return allowed.isEmpty() ? from.name() + " is final"
				: "only " + String.join(", ", allowed.stream().map(Enum::name).toList()) + " may follow";
	}

}
