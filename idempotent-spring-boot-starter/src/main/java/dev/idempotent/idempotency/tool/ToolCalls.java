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

	private final boolean ownCallers;

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
	 * @param ownCallers whether it is a resolver of the application, whose callers are
	 * the same in a request and without one, and on each host
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
	public ToolCalls(ToolCallerResolver callers, boolean ownCallers, BooleanSupplier singleCaller,
			BooleanSupplier overStdio, Requests requests, Streams streams, ToolRefusalRenderer renderer,
			Predicate<Object> failures, Function<Throwable, @Nullable Reason> refusals,
			Function<Object, @Nullable String> conversations) {
		this.callers = callers;
		this.ownCallers = ownCallers;
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
		String address = origin.address();
		String conversation = conversationOf(call, arguments);
		boolean single = !origin.isKnown() && isOfSingleCaller(call, address);
		requireSameEverywhere(origin, single);
		if (!origin.isKnown() && conversation == null && !single) {
			return null;
		}
		String caller = origin.isKnown() ? origin.caller() : SINGLE_CALLER;
		String inConversation = (conversation != null) ? digest("conversation", caller, conversation) : caller;
		// Equal calls to two hosts may come from two tenants.
		boolean anywhere = single || (origin.isKnown() && this.ownCallers) || address == null || address.isEmpty();
		String ofCall = anywhere ? inConversation : digest("address", inConversation, String.valueOf(address));
		return new Scopes(origin.isKnown() ? caller : ofCall, ofCall);
	}

	/**
	 * In a request, a call may have another caller, and it has the address of the
	 * request: a repetition would run twice.
	 */
	private void requireSameEverywhere(Origin origin, boolean single) {
		if (origin.detached() && !(origin.isKnown() && areKnownWithoutRequest()) && !single) {
			throw new IllegalStateException(DETACHED, origin.failure());
		}
		if (origin.failure() != null) {
			throw origin.failure();
		}
	}

	private boolean areKnownWithoutRequest() {
		return this.ownCallers || !this.requests.areServed();
	}

	/**
	 * Determines where a call that is made on the current thread comes from. The request
	 * is closer than the stream, in which Spring AI calls tools on other threads. If the
	 * caller was not known where the stream was subscribed to, it may be known on the
	 * thread of the tool.
	 * @return the caller and the address
	 */
	Origin origin() {
		String address = this.requests.address();
		Origin ofStream = (address == null) ? this.streams.origin() : null;
		if (ofStream == null) {
			return resolve(address, address == null && (this.requests.areServed() || this.streams.areCallingTools()));
		}
		if (ofStream.isKnown() || !areKnownWithoutRequest()) {
			return ofStream;
		}
		Origin ofThread = resolve(ofStream.address(), ofStream.detached());
		return (ofThread.isKnown() || ofThread.failure() != null) ? ofThread : ofStream;
	}

	private Origin resolve(@Nullable String address, boolean detached) {
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
	 * @param caller the caller; blank if unknown
	 * @param address where the client has sent the HTTP request; {@code null} without a
	 * request, empty if that is unknown
	 * @param detached whether other calls of the same conversation may have a request, or
	 * a caller, that the current thread does not know
	 * @param failure why the caller could not be resolved, or {@code null}
	 */
	public record Origin(String caller, @Nullable String address, boolean detached,
			@Nullable RuntimeException failure) {

		boolean isKnown() {
			return !this.caller.isBlank();
		}

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

		};

		/**
		 * Where the client has sent the request of the current thread.
		 * @return {@code null} without a request, empty if that is unknown
		 */
		@Nullable String address();

		/**
		 * Returns whether the application serves requests.
		 * @return {@code true} if other threads may have one
		 */
		boolean areServed();

	}

	/**
	 * The streams of models, which call tools on other threads.
	 */
	public interface Streams {

		/**
		 * Unknown, so that one may call the tool on any thread without a request.
		 */
		Streams UNKNOWN = new Streams() {

			@Override
			public @Nullable Origin origin() {
				return null;
			}

			@Override
			public boolean areCallingTools() {
				return true;
			}

		};

		/**
		 * Where the stream that calls tools on the current thread was subscribed to.
		 * @return {@code null} if that is unknown, or without a stream
		 */
		@Nullable Origin origin();

		/**
		 * Returns whether a stream may call tools on the current thread.
		 * @return {@code false} if none does
		 */
		boolean areCallingTools();

	}

}
