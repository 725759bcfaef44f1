package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a call of a method with {@link KeySource#TOOL_CALL} is refused. Its message
 * is written for a model. Its cause, if any, is what the same refusal of another method
 * would throw, such as {@link IdempotencyPendingException}, or what a method or a saga
 * that the tool calls has thrown.
 */
public final class ToolCallRefusedException extends RuntimeException {

	private final transient ToolRefusal refusal;

	/**
	 * Creates an exception.
	 * @param refusal the refusal
	 * @param message the text for a model
	 * @param cause what the same refusal of another method would throw, or {@code null}
	 */
	public ToolCallRefusedException(ToolRefusal refusal, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.refusal = refusal;
	}

	/**
	 * The refusal.
	 * @return why the call was refused
	 */
	public ToolRefusal getRefusal() {
		return this.refusal;
	}

}
