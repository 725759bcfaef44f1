package dev.idempotent.idempotency.web;

import dev.idempotent.idempotency.web.OperationTable.Target;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;

/**
 * Describes the operations of an application for its API documentation.
 */
public final class OperationDescriptions {

	private final IdempotentOperations operations;

	private final IdempotencyWebSettings settings;

	/**
	 * Creates descriptions.
	 * @param operations the operations
	 * @param settings the settings that they are described with
	 */
	public OperationDescriptions(IdempotentOperations operations, IdempotencyWebSettings settings) {
		this.operations = operations;
		this.settings = settings;
	}

	/**
	 * Describes the operation of a mapping.
	 * @param handler its handler, or {@code null} for one that is not a method
	 * @param method its HTTP method, such as {@code POST}
	 * @param pattern its path pattern
	 * @return the description, or {@code null} if requests to it need no key
	 */
	public @Nullable OperationDescription describe(@Nullable HandlerMethod handler, String method, String pattern) {
		Target target = this.operations.find(handler, RequestMethod.valueOf(method), PathContainer.parsePath(pattern));
		return (target != null) ? OperationDescription.of(target, this.operations.requiresCaller(target),
				this.settings.header(), new ProblemTypes(this.settings.problemBaseUri())) : null;
	}

}
