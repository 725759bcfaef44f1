package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.operation.OperationSummary;
import dev.idempotent.idempotency.web.OperationTable.Handler;
import dev.idempotent.idempotency.web.OperationTable.Target;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.RequestPath;
import org.springframework.util.Assert;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * The operations of the annotated handlers of an application, and of those that need a
 * key by configuration. Empty until {@link #load} has been called.
 */
public final class IdempotentOperations {

	private volatile @Nullable OperationTable table;

	private volatile boolean callersKnown;

	/**
	 * Reads the annotations of all handlers.
	 * @param mappings the mappings that requests are dispatched with, in their order
	 * @param settings the settings, with the requests that need a key
	 * @param defaults the defaults of the annotation's attributes
	 * @param transactionSource resolves the transactions of handlers, or {@code null}
	 * without a database
	 * @return the annotated handlers
	 * @throws dev.idempotent.IdempotentConfigurationException if an annotation cannot be
	 * applied to its handler
	 */
	public List<OperationSummary> load(List<RequestMappingHandlerMapping> mappings, IdempotencyWebSettings settings,
			OperationSettings defaults, @Nullable IdempotencyTransactionSource transactionSource) {
		OperationTable loaded = OperationTable.load(mappings,
				new RequiredKeyOperations(settings.requiredFor(), defaults, transactionSource), defaults,
				transactionSource, new ResponsePolicy(settings));
		this.table = loaded;
		return loaded.annotated()
			.keySet()
			.stream()
			.map((handler) -> OperationSummary.of(handler.type(), handler.method(), annotationOf(handler.method()),
					defaults))
			.toList();
	}

	/**
	 * Checks that no operation takes its key from the fingerprint alone, for applications
	 * that cannot distinguish callers.
	 * @throws dev.idempotent.IdempotentConfigurationException if one does
	 */
	public void rejectFingerprintKeys() {
		reject(KeySource.FINGERPRINT,
				"takes its key from the fingerprint, and without Spring Security its callers cannot be "
						+ "distinguished: equal requests of two callers would count as one",
				"Declare a bean of type IdempotencyScopeResolver, such as new PrincipalScopeResolver((principal) -> "
						+ "null, () -> null) if a filter sets the principal, or add Spring Security.");
	}

	/**
	 * Checks that no operation takes its key from a one-time token, for applications
	 * without a secret.
	 * @throws dev.idempotent.IdempotentConfigurationException if one does
	 */
	public void rejectTokenKeys() {
		reject(KeySource.TOKEN, "takes its key from a one-time token, and idempotent.token.secrets is empty",
				"Set idempotent.token.secrets to an id and a secret, the same in all instances, such as k1: followed by the "
						+ "output of: openssl rand -base64 32.");
	}

	private void reject(KeySource source, String mistake, String action) {
		OperationTable loaded = this.table;
		Assert.state(loaded != null, "The operations must be loaded first");
		loaded.annotated().forEach((handler, operation) -> {
			if (operation.keyExpression() == null && operation.keySource() == source) {
				throw OperationSettings.mistake(
						IdempotentConfigurationException.describe(handler.type(), handler.method()), mistake, action,
						null);
			}
		});
	}

	/**
	 * Requires known callers of handlers that cancel others or can be cancelled, for
	 * applications that can distinguish callers: the keys of a cancellation and of its
	 * action must be in one scope.
	 */
	public void requireCallersOfCancels() {
		this.callersKnown = true;
	}

	/**
	 * Returns whether a request to an operation is refused if its caller is unknown.
	 */
	boolean requiresCaller(Target target) {
		return this.callersKnown && target.paired();
	}

	/**
	 * Returns whether Spring MVC maps requests to a method.
	 * @param type the class of the bean
	 * @param method its method
	 * @return whether it is a handler method
	 */
	public static boolean isHandler(Class<?> type, Method method) {
		return HandlerEntryAdvisor.isHandler(type, method);
	}

	/**
	 * Finds the operation of a mapping, or {@code null}.
	 */
	@Nullable Target find(@Nullable HandlerMethod handler, RequestMethod method, PathContainer pattern) {
		OperationTable loaded = this.table;
		return (loaded != null) ? loaded.find(handler, method, pattern) : null;
	}

	/**
	 * Returns whether a handler is known and needs no transaction.
	 */
	boolean isLeased(HandlerMethod handler) {
		OperationTable loaded = this.table;
		IdempotentOperation operation = (loaded != null) ? loaded.annotated().get(Handler.of(handler)) : null;
		return operation != null && operation.transactions() == null;
	}

	private static Idempotent annotationOf(Method handler) {
		return Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(handler, Idempotent.class));
	}

	/**
	 * Finds the operation of a request, or {@code null}. Requests that match the URL
	 * pattern and method of no operation cost only that comparison.
	 */
	@Nullable Target find(HttpServletRequest request) {
		OperationTable loaded = this.table;
		if (loaded == null || !loaded.prefilter().mayMatch(request) || CorsUtils.isPreFlightRequest(request)) {
			return null;
		}
		// Like the dispatcher servlet: a filter may have parsed another URL, and an error
		// page will have another one.
		Object parsedBefore = request.getAttribute(ServletRequestPathUtils.PATH_ATTRIBUTE);
		try {
			return loaded.find(request, ServletRequestPathUtils.parseAndCache(request).pathWithinApplication());
		}
		finally {
			ServletRequestPathUtils.setParsedRequestPath((RequestPath) parsedBefore, request);
		}
	}

}
