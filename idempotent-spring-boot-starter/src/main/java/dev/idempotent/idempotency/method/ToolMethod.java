package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.ToolCallRefusedException;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.engine.RunIdentity;
import dev.idempotent.idempotency.engine.UnreadableResponseException;
import dev.idempotent.idempotency.operation.KeyExpression;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.tool.ToolCall;
import dev.idempotent.idempotency.tool.ToolCalls;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.expression.EvaluationException;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import tools.jackson.core.JacksonException;

/**
 * A method with {@link KeySource#TOOL_CALL}. A call is identified by the key of its
 * client, or by its arguments, and refused in the words of a model.
 * <p>
 * A result that stands for a failure ({@code isError} of MCP) is not recorded: like an
 * exception it rolls the work back under {@link Guarantee#TRANSACTION}, and frees the key
 * so that the next call runs.
 *
 * @param described the method, for messages
 * @param tools the names of the tool
 * @param window how long calls with equal arguments are retries
 * @param operation the operation of all calls
 * @param key the expression of the key, or {@code null}
 * @param arguments reads the arguments of a call
 * @param shared the settings of all tools
 * @param warned whether the log tells that a client's key was not used
 */
record ToolMethod(String described, List<String> tools, Duration window, MethodOperation operation,
		@Nullable KeyExpression key, MethodArguments arguments, ToolCalls shared, AtomicBoolean warned) {

	private static final Logger logger = LoggerFactory.getLogger(ToolMethod.class);

	private static final String TOOL = "org.springframework.ai.tool.annotation.Tool";

	private static final String MCP_TOOL = "org.springframework.ai.mcp.annotation.McpTool";

	/**
	 * Reads an annotated method.
	 * @throws dev.idempotent.IdempotentConfigurationException if it is not a tool
	 */
	static ToolMethod of(AnnotatedMethod method, Idempotent annotation, MethodOperation operation,
			@Nullable KeyExpression key, MethodArguments arguments, @Nullable ToolCalls shared) {
		List<String> names = namesOf(method);
		if (shared == null || names.isEmpty()) {
			throw notATool(method, shared);
		}
		if (operation.asynchronous()) {
			throw method.invalid("is a tool and returns a future, which agents do not wait for", "Return the result.",
					null);
		}
		if (List.of(annotation.ignore()).contains(Idempotent.EVERYTHING)) {
			throw method.invalid("ignores everything, so that all calls of the tool without a key would be one",
					"List the parameters to ignore.", null);
		}
		Duration window = Objects.requireNonNull(OperationSettings.window(method.describe(), annotation));
		return new ToolMethod(method.describe(), names, window, operation, key, arguments, shared, new AtomicBoolean());
	}

	private static RuntimeException notATool(AnnotatedMethod method, @Nullable ToolCalls shared) {
		if (shared == null && !ClassUtils.isPresent(TOOL, method.type().getClassLoader())) {
			return method.invalid("takes its key from the call of a tool, and there is no Spring AI",
					"Add spring-ai-model or a starter of Spring AI to the application, or set key to the argument that "
							+ "is the key, without from = KeySource.TOOL_CALL.",
					null);
		}
		if (shared == null) {
			return method.invalid(
					"takes its key from the call of a tool, and the auto-configuration of tools is excluded",
					"Do not exclude the auto-configuration of this library.", null);
		}
		if (nameOf(method, MCP_TOOL, SearchStrategy.TYPE_HIERARCHY) != null) {
			return method.invalid("is a tool by the annotation of an interface or a superclass alone, where Spring AI "
					+ "does not look for it", "Repeat @McpTool on this method.", null);
		}
		return method.invalid("takes its key from the call of a tool, and is not a tool",
				"Add @Tool or @McpTool to the method, or set key to the argument that is the key, without "
						+ "from = KeySource.TOOL_CALL.",
				null);
	}

	/**
	 * Spring AI looks for {@code @Tool} in interfaces, too.
	 */
	private static List<String> namesOf(AnnotatedMethod method) {
		return Stream
			.of(nameOf(method, TOOL, SearchStrategy.TYPE_HIERARCHY), nameOf(method, MCP_TOOL, SearchStrategy.DIRECT))
			.filter(Objects::nonNull)
			.distinct()
			.toList();
	}

	private static @Nullable String nameOf(AnnotatedMethod method, String annotation, SearchStrategy strategy) {
		MergedAnnotation<?> found = MergedAnnotations.from(method.method(), strategy).get(annotation);
		String name = found.isPresent() ? found.getString("name") : null;
		return (name != null && name.isEmpty()) ? method.method().getName() : name;
	}

	/**
	 * Makes a call, or answers it.
	 * @throws dev.idempotent.idempotency.ToolCallRefusedException if it is refused
	 */
	@Nullable Object invoke(MethodSettings settings, MethodInvocation invocation) throws Throwable {
		ToolCall around = ToolCall.current();
		ToolCall call = (around != null && this.tools.stream().anyMatch(around::isOf)) ? around : null;
		if (call != null) {
			call.reset();
		}
		if (call == null && around != null && around.hasKey() && this.warned.compareAndSet(false, true)) {
			logger.warn("The tool method {} was called for another tool than {}: the idempotency key of the client "
					+ "belongs to that tool and was not used here", this.described, this.tools);
		}
		RunIdentity identity = identify(settings, call, around, invocation.getArguments());
		Run run = new Run(this.shared, invocation, (around != null) ? around.inner() : null);
		try {
			Object result = this.operation.run(settings, identity, run);
			if (call != null && run.entered) {
				call.ran();
			}
			else if (call != null) {
				call.replayed();
			}
			return result;
		}
		catch (FailedResultException ex) {
			return failed(call, ex);
		}
		catch (RuntimeException ex) {
			throw run.entered ? failureOf(run, call, ex) : refusalOf(call, ex);
		}
	}

	/**
	 * Managers report a failed commit in different ways, and the database is asked only
	 * when the call is repeated.
	 */
	private RuntimeException failureOf(Run run, @Nullable ToolCall call, RuntimeException failure) {
		boolean unknown = run.returned && (run.inDoubt || failure instanceof IdempotencyClaimLostException
				|| (failure instanceof TransactionException && !(failure instanceof UnexpectedRollbackException)));
		if (unknown && this.operation.transactions() != null) {
			return refuse(call, Reason.OUTCOME_UNKNOWN, null, failure);
		}
		if (run.returned && failure instanceof IdempotencyResultException) {
			return refuse(call, Reason.OPERATOR_NEEDED, null, failure);
		}
		Reason reason = this.shared.refusalIn(failure);
		return (reason != null) ? refuse(call, reason, retryAfter(failure), failure) : failure;
	}

	private static @Nullable Duration retryAfter(RuntimeException failure) {
		if (failure instanceof ToolCallRefusedException refused) {
			return refused.getRefusal().retryAfter();
		}
		return (failure instanceof IdempotencyPendingException pending) ? pending.getRetryAfter() : null;
	}

	private RuntimeException refusalOf(@Nullable ToolCall call, RuntimeException failure) {
		if (failure instanceof IdempotencyPendingException pending) {
			return refuse(call, Reason.IN_PROGRESS, pending.getRetryAfter(), failure);
		}
		if (failure instanceof IdempotencyMismatchException) {
			return refuse(call, Reason.OTHER_ARGUMENTS, null, failure);
		}
		if (failure instanceof IdempotencyResultException || failure instanceof UnreadableResponseException) {
			return refuse(call, Reason.RESULT_NOT_KEPT, null, failure);
		}
		return refuse(call, (failure instanceof IdempotencyStoreUnavailableException) ? Reason.STORE_UNAVAILABLE
				: Reason.OPERATOR_NEEDED, null, failure);
	}

	private RunIdentity identify(MethodSettings settings, @Nullable ToolCall call, @Nullable ToolCall around,
			@Nullable Object[] values) {
		try {
			ToolCalls.Scopes scopes = scopesOf(call, around, values);
			Fingerprint fingerprint = this.arguments.fingerprint(values);
			String sent = keyOf(call, values);
			String name = this.operation.settings().name();
			return (sent != null)
					? RunIdentity.of(IdempotencyKey.of(IdempotencyKey.Kind.TOOL_CALL, settings.namespace(),
							scopes.ofKey(), name, sent), fingerprint, this.operation.settings().retention())
					: new RunIdentity(
							IdempotencyKey.of(IdempotencyKey.Kind.FINGERPRINT, settings.namespace(),
									scopes.ofFingerprint(), name, fingerprint.digest()),
							fingerprint, this.window, true);
		}
		catch (RuntimeException ex) {
			settings.engine().decided(this.operation.observed(), null, Outcome.REFUSED, Duration.ZERO);
			throw (ex instanceof ToolCallRefusedException) ? ex : refuse(call, Reason.OPERATOR_NEEDED, null, ex);
		}
	}

	private ToolCalls.Scopes scopesOf(@Nullable ToolCall call, @Nullable ToolCall around, @Nullable Object[] values) {
		ToolCalls.Scopes scopes;
		try {
			scopes = this.shared.scopes(around, values);
		}
		catch (RuntimeException ex) {
			throw refuse(call, Reason.CALLER_UNKNOWN, null, ex);
		}
		if (scopes == null) {
			throw refuse(call, Reason.CALLER_UNKNOWN, null, null);
		}
		return scopes;
	}

	/**
	 * The key that the annotation names comes first: a harness that makes a new key for
	 * each of its requests must not replace the one that the model repeats.
	 */
	private @Nullable String keyOf(@Nullable ToolCall call, @Nullable Object[] values) {
		try {
			String ofArgument = (this.key != null) ? this.key.evaluate(this.arguments.byName(values)) : null;
			String ofClient = (ofArgument == null && call != null) ? call.key() : null;
			return (ofClient != null) ? KeyExpression.textOf(ofClient) : ofArgument;
		}
		catch (EvaluationException | JacksonException | IllegalArgumentException ex) {
			throw refuse(call, Reason.KEY_INVALID, null, ex);
		}
	}

	private RuntimeException refuse(@Nullable ToolCall call, Reason reason, @Nullable Duration retryAfter,
			@Nullable Throwable cause) {
		return this.shared.refuse(call, reason, this.operation.settings().name(), retryAfter, cause);
	}

	/**
	 * Only an exception rolls back the transaction of a caller, or of the method itself,
	 * which is still open under {@link Guarantee#TRANSACTION}.
	 */
	private Object failed(@Nullable ToolCall call, FailedResultException failure) {
		if (this.operation.transactions() == null || !TransactionSynchronizationManager.isActualTransactionActive()) {
			return failure.result;
		}
		if (call != null) {
			call.failed(failure.result);
		}
		throw failure;
	}

	/**
	 * The run of the tool's method, in which the key of the call is hidden: the tools
	 * that it calls have keys of their own.
	 */
	private static final class Run implements MethodOperation.Work {

		private final ToolCalls shared;

		private final MethodInvocation invocation;

		private final @Nullable ToolCall inner;

		private boolean entered;

		private boolean returned;

		private boolean inDoubt;

		Run(ToolCalls shared, MethodInvocation invocation, @Nullable ToolCall inner) {
			this.shared = shared;
			this.invocation = invocation;
			this.inner = inner;
		}

		@Override
		public @Nullable Object proceed() throws Throwable {
			this.entered = true;
			ToolCall outer = ToolCall.bind(this.inner);
			try {
				Object result = this.invocation.proceed();
				if (result != null && this.shared.isFailure(result)) {
					throw new FailedResultException(result);
				}
				this.returned = true;
				return result;
			}
			finally {
				ToolCall.bind(outer);
			}
		}

		@Override
		public void inDoubt() {
			this.inDoubt = true;
		}

	}

	/**
	 * Ends a run whose result stands for a failure.
	 */
	@SuppressWarnings("serial")
	private static final class FailedResultException extends RuntimeException {

		private final transient Object result;

		FailedResultException(Object result) {
			super("The tool has failed, and its work was rolled back", null, false, false);
			this.result = result;
		}

	}

}
