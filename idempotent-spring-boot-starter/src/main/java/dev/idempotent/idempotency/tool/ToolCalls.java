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

	private static final String DETACHED = "The tool was called on a thread without the HTTP request or the stream in "
			+ "which its conversation began, so that a repetition in the request could not be recognized. If "
			+ "ChatClient.stream() has called it: let the client be a bean, or build it with the ChatClient.Builder bean, "
			+ "or add the bean of type ToolCallerAdvisor to its advisors, and subscribe on the thread of the request. "
			+ "Otherwise declare a bean of type ToolCallerResolver that knows the caller on this thread";

	/**
	 * The scope of the single caller: no other caller can have it.
	 */
	private static final String SINGLE_CALLER = "";

	/**
	 * The reasons that an agent does not cause by repeating a call.
	 */
	private static final Set<Reason> LOGGED = EnumSet.of(Reason.OUTCOME_UNKNOWN, Reason.RESULT_NOT_KEPT,
			Reason.STORE_UNAVAILABLE, Reason.CALLER_UNKNOWN, Reason.KEY_INVALID, Reason.OPERATOR_NEEDED);

	private final ToolCallerResolver callers;

	private final BooleanSupplier singleCaller;

	private final BooleanSupplier overStdio;

	private final Requests requests;

	private final Streams streams;

	private final ToolRefusalRenderer renderer;

	private final Predicate<Object> failures;

	private final Function<Throwable, @Nullable Reason> refusals;

	private final Function<Object, @Nullable String> conversations;

	private final Set<String> logged = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the settings of all tools.
	 * @param callers resolves callers
	 * @param singleCaller whether all calls without a caller have the same one
	 * @param overStdio whether the MCP server of this process has one client
	 * @param requests the HTTP requests in which tools are called
	 * @param streams the streams of models that call tools on other threads
	 * @param renderer renders refusals
	 * @param failures recognizes results that stand for a failure
	 * @param refusals tells why the work of a tool was refused; {@code null} for any
	 * other failure
	 * @param conversations finds the conversation in an argument of the framework, or
	 * {@code null} in any other argument
	 */
	public ToolCalls(ToolCallerResolver callers, BooleanSupplier singleCaller, BooleanSupplier overStdio,
			Requests requests, Streams streams, ToolRefusalRenderer renderer, Predicate<Object> failures,
			Function<Throwable, @Nullable Reason> refusals, Function<Object, @Nullable String> conversations) {
		this.callers = callers;
		this.singleCaller = singleCaller;
		this.overStdio = overStdio;
		this.requests = requests;
		this.streams = streams;
		this.renderer = renderer;
		this.failures = failures;
		this.refusals = refusals;
		this.conversations = conversations;
	}

	/**
	 * Determines whose the keys of a call are.
	 * @param call the call as its framework knows it, or {@code null}
	 * @param arguments the arguments of the tool's method
	 * @return the scopes; {@code null} if neither the caller nor the conversation is
	 * known, so that the calls of two callers could not be told apart
	 * @throws RuntimeException if the caller cannot be resolved
	 */
	public @Nullable Scopes scopes(@Nullable ToolCall call, @Nullable Object[] arguments) {
		Origin origin = origin();
		String caller = origin.caller();
		String conversation = conversationOf(call, arguments);
		String address = origin.address();
		boolean single = caller.isBlank() && isOfSingleCaller(call, address);
		requireSameEverywhere(origin, single);
		if (caller.isBlank() && conversation == null && !single) {
			return null;
		}
		String known = caller.isBlank() ? SINGLE_CALLER : caller;
		String inConversation = (conversation != null) ? digest("conversation", known, conversation) : known;
		// Equal calls to two hosts may come from two tenants.
		boolean anywhere = single || address == null || address.isEmpty();
		return new Scopes(caller.isBlank() ? inConversation : caller,
				anywhere ? inConversation : digest("address", inConversation, String.valueOf(address)));
	}

	/**
	 * In a request, a call may have another caller, and it has the address of the
	 * request: a repetition would run twice.
	 */
	private void requireSameEverywhere(Origin origin, boolean single) {
		boolean known = !origin.caller().isBlank() && (this.requests.callersSuffice() || !this.requests.areServed());
		if (origin.detached() && !known && !single) {
			throw new IllegalStateException(DETACHED, origin.failure());
		}
		if (origin.failure() != null) {
			throw origin.failure();
		}
	}

	/**
	 * Determines where a call that is made on the current thread comes from. The request
	 * is closer than the stream, in which Spring AI calls tools on other threads.
	 * @return the caller and the address
	 */
	Origin origin() {
		String address = this.requests.address();
		Origin ofStream = (address == null) ? this.streams.origin() : null;
		if (ofStream != null) {
			return ofStream;
		}
		boolean detached = address == null && (this.requests.areServed() || this.streams.areCallingTools());
		try {
			return new Origin(Objects.requireNonNullElse(this.callers.resolveCaller(), ""), address, detached, null);
		}
		catch (RuntimeException ex) {
			return new Origin("", address, detached, ex);
		}
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
	 * Returns why the work of a tool was refused.
	 * @param failure what the work has thrown
	 * @return the reason, or {@code null} for any other failure
	 */
	public @Nullable Reason refusalIn(Throwable failure) {
		return this.refusals.apply(failure);
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

	/**
	 * Where a call comes from.
	 *
	 * @param caller the caller; empty if unknown
	 * @param address where the client has sent the HTTP request; {@code null} without a
	 * request, empty if that does not matter
	 * @param detached whether other calls of the same conversation may have a request, or
	 * a caller, that the current thread does not know
	 * @param failure why the caller could not be resolved, or {@code null}
	 */
	public record Origin(String caller, @Nullable String address, boolean detached,
			@Nullable RuntimeException failure) {
	}

	/**
	 * The HTTP requests in which tools are called.
	 */
	public interface Requests {

		/**
		 * None in this application.
		 */
		Requests NONE = new Requests() {

			@Override
			public @Nullable String address() {
				return null;
			}

			@Override
			public boolean areServed() {
				return false;
			}

			@Override
			public boolean callersSuffice() {
				return true;
			}

		};

		/**
		 * Where the client has sent the request of the current thread.
		 * @return {@code null} without a request, empty if that does not matter
		 */
		@Nullable String address();

		/**
		 * Returns whether the application serves requests.
		 * @return {@code true} if other threads may have one
		 */
		boolean areServed();

		/**
		 * Returns whether the caller alone tells tenants apart, in a request or not.
		 * @return {@code true} if the address does not matter
		 */
		boolean callersSuffice();

	}

	/**
	 * The streams of models, which call tools on other threads.
	 */
	public interface Streams {

		/**
		 * Where the stream that calls tools on the current thread was subscribed to.
		 * @return {@code null} if that is unknown, or without a stream
		 */
		@Nullable Origin origin();

		/**
		 * Returns whether a stream calls tools on the current thread.
		 * @return {@code true} within such a call
		 */
		boolean areCallingTools();

	}

}
