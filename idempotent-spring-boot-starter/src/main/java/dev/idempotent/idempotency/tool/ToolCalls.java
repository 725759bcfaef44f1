package dev.idempotent.idempotency.tool;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
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

	/**
	 * The scope of the single caller: no other caller can have it.
	 */
	private static final String SINGLE_CALLER = "";

	/**
	 * The reasons that an agent does not cause by repeating a call.
	 */
	private static final Set<Reason> LOGGED = EnumSet.of(Reason.OUTCOME_UNKNOWN, Reason.RESULT_NOT_KEPT,
			Reason.STORE_UNAVAILABLE, Reason.CALLER_UNKNOWN, Reason.KEY_INVALID);

	private final ToolCallerResolver callers;

	private final BooleanSupplier singleCaller;

	private final BooleanSupplier overStdio;

	private final Supplier<@Nullable String> address;

	private final ToolRefusalRenderer renderer;

	private final Predicate<Object> failures;

	private final Function<Object, @Nullable String> conversations;

	private final Set<String> logged = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the settings of all tools.
	 * @param callers resolves callers
	 * @param singleCaller whether all calls without a caller have the same one
	 * @param overStdio whether the MCP server of this process has one client
	 * @param address supplies where the client has sent the HTTP request in which a tool
	 * is called, or {@code null} without a request
	 * @param renderer renders refusals
	 * @param failures recognizes results that stand for a failure
	 * @param conversations finds the conversation in an argument of the framework, or
	 * {@code null} in any other argument
	 */
	public ToolCalls(ToolCallerResolver callers, BooleanSupplier singleCaller, BooleanSupplier overStdio,
			Supplier<@Nullable String> address, ToolRefusalRenderer renderer, Predicate<Object> failures,
			Function<Object, @Nullable String> conversations) {
		this.callers = callers;
		this.singleCaller = singleCaller;
		this.overStdio = overStdio;
		this.address = address;
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
		String conversation = conversationOf(call, arguments);
		String address = this.address.get();
		if (caller.isBlank() && conversation == null && !isOfSingleCaller(call, address)) {
			return null;
		}
		String known = caller.isBlank() ? SINGLE_CALLER : caller;
		String inConversation = (conversation != null) ? digest("conversation", known, conversation) : known;
		// Equal calls to two hosts may come from two tenants.
		return new Scopes(caller.isBlank() ? inConversation : caller,
				(address == null || address.isEmpty()) ? inConversation : digest("address", inConversation, address));
	}

	/**
	 * The context of the call itself is closer than the prompt that has led to it.
	 */
	private @Nullable String conversationOf(@Nullable ToolCall call, @Nullable Object[] arguments) {
		return Stream.of(arguments)
			.filter(Objects::nonNull)
			.map(this.conversations)
			.filter(Objects::nonNull)
			.findFirst()
			.orElse((call != null) ? call.conversation() : null);
	}

	/**
	 * A process may have an endpoint of HTTP beside its standard input.
	 */
	private boolean isOfSingleCaller(@Nullable ToolCall call, @Nullable String address) {
		return this.singleCaller.getAsBoolean()
				|| (call != null && call.isOfClient() && address == null && this.overStdio.getAsBoolean());
	}

	private static String digest(String... parts) {
		return Fingerprint.of(Stream.of(parts).map((part) -> part.getBytes(StandardCharsets.UTF_8)).toList()).digest();
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
		if (cause != null && LOGGED.contains(reason) && this.logged.add(reason + " " + operation)) {
			logger.warn("A call of the tool '{}' was refused ({}). Further ones for this reason are not logged",
					operation, reason, cause);
		}
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
