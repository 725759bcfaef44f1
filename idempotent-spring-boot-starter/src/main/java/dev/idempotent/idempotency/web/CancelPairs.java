package dev.idempotent.idempotency.web;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.web.OperationTable.Handler;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.HttpStatus;

/**
 * The handlers that cancel others, each with its action.
 *
 * @param actions the operation of the action by its cancellation
 * @param members all actions and cancellations
 */
record CancelPairs(Map<Handler, IdempotentOperation> actions, Set<Handler> members) {

	/**
	 * Pairs the annotated handlers of an application.
	 * @throws IdempotentConfigurationException if a handler cannot cancel its action
	 */
	static CancelPairs of(Map<Handler, IdempotentOperation> annotated, ResponsePolicy policy) {
		Map<Handler, IdempotentOperation> actions = new HashMap<>();
		Set<Handler> members = new HashSet<>();
		annotated.forEach((handler, cancel) -> {
			Cancels annotation = annotationOf(handler);
			if (annotation != null) {
				Handler action = actionOf(handler, annotation.value(), annotated);
				check(handler, cancel, action, annotated.get(action), policy);
				actions.put(handler, annotated.get(action));
				members.addAll(List.of(handler, action));
			}
		});
		return new CancelPairs(Map.copyOf(actions), Set.copyOf(members));
	}

	private static @Nullable Cancels annotationOf(Handler handler) {
		return AnnotatedElementUtils.findMergedAnnotation(handler.method(), Cancels.class);
	}

	private static Handler actionOf(Handler cancel, String name, Map<Handler, IdempotentOperation> annotated) {
		List<Handler> named = annotated.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().settings().name().equals(name))
			.map(Map.Entry::getKey)
			.toList();
		if (named.size() != 1) {
			throw mistake(cancel,
					named.isEmpty() ? "cancels '" + name + "', and no @Idempotent web handler has that name"
							: "cancels '" + name + "', and " + named.size() + " web handlers have that name",
					"Name the handler of the action, and no other one, @Idempotent(name = \"" + name + "\").");
		}
		return named.get(0);
	}

	private static void check(Handler handler, IdempotentOperation cancel, Handler actionHandler,
			@Nullable IdempotentOperation action, ResponsePolicy policy) {
		String described = IdempotentConfigurationException.describe(actionHandler.type(), actionHandler.method());
		IdempotentOperation found = Objects.requireNonNull(action);
		if (annotationOf(actionHandler) != null) {
			throw mistake(handler, "cancels " + described + ", which is itself a cancellation",
					"Name the handler whose effect it undoes.");
		}
		requireFit(handler, "", cancel);
		requireFit(handler, "cancels " + described + ", which ", found);
		if (!Objects.requireNonNull(cancel.transactions())
			.isSameResource(Objects.requireNonNull(found.transactions()))) {
			throw mistake(handler, "cancels " + described + ", which has another transaction manager or DataSource",
					"Let both use the same one.");
		}
		if (!policy.isCommitted(HttpStatus.NO_CONTENT.value())) {
			throw mistake(handler,
					"responds with 204 to the cancellation of an action that had no effect, and that status is "
							+ "not stored",
					"Add 204 to idempotent.web.stored-statuses.");
		}
	}

	private static void requireFit(Handler handler, String subject, IdempotentOperation operation) {
		if (operation.keyExpression() != null || operation.keySource() != KeySource.HEADER) {
			throw mistake(handler, subject + "does not take its key from the header",
					"Use from = KeySource.HEADER without a key expression for both handlers.");
		}
		if (operation.transactions() == null) {
			throw mistake(handler, subject + "has Guarantee.LEASE",
					"Use guarantee = Guarantee.TRANSACTION for both handlers.");
		}
	}

	private static IdempotentConfigurationException mistake(Handler handler, String problem, String action) {
		return IdempotentConfigurationException.ofMethod(Cancels.class,
				IdempotentConfigurationException.describe(handler.type(), handler.method()), problem, action, null);
	}

}
