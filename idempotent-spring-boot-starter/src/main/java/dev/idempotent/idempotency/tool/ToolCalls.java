package dev.idempotent.idempotency.tool;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ToolCallRefusedException;
import dev.idempotent.idempotency.ToolRefusal;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all tools of an application share: whose their calls are, which of their results
 * are failures, and the words of refusals.
 */
public final class ToolCalls {

	private static final Logger logger = LoggerFactory.getLogger(ToolCalls.class);

	private static final Scopes SINGLE_CALLER = new Scopes("single-caller", "single-caller");

	private final ToolCallerResolver callers;

	private final BooleanSupplier singleCaller;

	private final ToolRefusalRenderer renderer;

	private final Predicate<Object> failures;

	private final Function<Object, @Nullable String> conversations;

	/**
	 * Creates the settings of all tools.
	 * @param callers resolves callers
	 * @param singleCaller whether all calls without a caller are those of one
	 * @param renderer renders refusals
	 * @param failures recognizes results that stand for a failure
	 * @param conversations finds the conversation in an argument of the framework, or
	 * {@code null} in any other argument
	 */
	public ToolCalls(ToolCallerResolver callers, BooleanSupplier singleCaller, ToolRefusalRenderer renderer,
			Predicate<Object> failures, Function<Object, @Nullable String> conversations) {
		this.callers = callers;
		this.singleCaller = singleCaller;
		this.renderer = renderer;
		this.failures = failures;
		this.conversations = conversations;
	}

	/**
	 * Determines whose the keys of a call are.
	 * @param call the call as its framework knows it, or {@code null}
	 * @param arguments the arguments of the tool's method
	 * @return the scopes; {@code null} if neither the caller nor the conversation is
	 * known, so that the calls of two callers could not be told apart
	 */
	public @Nullable Scopes scopes(@Nullable ToolCall call, @Nullable Object[] arguments) {
		String caller = Objects.requireNonNullElse(this.callers.resolveCaller(), "");
		String conversation = (call != null && call.conversation() != null) ? call.conversation()
				: Stream.of(arguments)
					.filter(Objects::nonNull)
					.map(this.conversations)
					.filter(Objects::nonNull)
					.findFirst()
					.orElse(null);
		if (conversation == null) {
			return !caller.isBlank() ? new Scopes(caller, caller)
					: this.singleCaller.getAsBoolean() ? SINGLE_CALLER : null;
		}
		String both = Fingerprint
			.of(Stream.of("conversation", caller, conversation)
				.map((part) -> part.getBytes(StandardCharsets.UTF_8))
				.toList())
			.digest();
		return new Scopes(caller.isBlank() ? both : caller, both);
	}

	/**
	 * Returns whether a result stands for a failure.
	 * @param result the result of the tool's method
	 * @return whether the work must count as failed
	 */
	public boolean isFailure(@Nullable Object result) {
		return result != null && this.failures.test(result);
	}

	/**
	 * Creates the exception for a refused call, and reports it to the framework that has
	 * made the call.
	 * @param call the call as its framework knows it, or {@code null}
	 * @param reason why it is refused
	 * @param operation the name of the operation
	 * @param retryAfter when it can be repeated, or {@code null}
	 * @param cause what another method would throw, or {@code null}
	 * @return the exception to throw
	 */
	public ToolCallRefusedException refuse(@Nullable ToolCall call, Reason reason, String operation,
			@Nullable Duration retryAfter, @Nullable Throwable cause) {
		ToolRefusal refusal = new ToolRefusal(reason, operation, retryAfter);
		String text = render(refusal);
		if (call != null) {
			call.refused(refusal, text);
		}
		return new ToolCallRefusedException(refusal, text, cause);
	}

	private String render(ToolRefusal refusal) {
		try {
			return Objects.requireNonNull(this.renderer.render(refusal), "The ToolRefusalRenderer has returned null");
		}
		catch (RuntimeException ex) {
			logger.error("The ToolRefusalRenderer of the application has failed; the default sentence is sent", ex);
			return refusal.reason().sentence();
		}
	}

	/**
	 * The scopes of the keys of a call.
	 *
	 * @param ofKey the scope of a key that the client has sent
	 * @param ofFingerprint the scope of a key that is the fingerprint of the arguments
	 */
	public record Scopes(String ofKey, String ofFingerprint) {
	}

}
