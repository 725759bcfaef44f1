package dev.idempotent.autoconfigure.idempotency;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.idempotency.web.IdempotentOperations;
import dev.idempotent.token.OneTimeTokens;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * Reads the annotations when all handlers are known and before the first request.
 */
final class IdempotencyStartup implements SmartInitializingSingleton {

	/**
	 * The mapping of Spring MVC. The actuator and the application may add others.
	 */
	static final String HANDLER_MAPPING = "requestMappingHandlerMapping";

	private final ListableBeanFactory beanFactory;

	private final IdempotentOperations operations;

	private final StartupReport report;

	private final @Nullable IdempotencyTransactionSource transactionSource;

	private final IdempotencyWebSettings settings;

	private final OperationSettings defaults;

	private final boolean tellsCallersApart;

	IdempotencyStartup(ListableBeanFactory beanFactory, IdempotentOperations operations, StartupReport report,
			@Nullable IdempotencyTransactionSource transactionSource, IdempotencyWebSettings settings,
			OperationSettings defaults, boolean tellsCallersApart) {
		this.beanFactory = beanFactory;
		this.operations = operations;
		this.report = report;
		this.transactionSource = transactionSource;
		this.settings = settings;
		this.defaults = defaults;
		this.tellsCallersApart = tellsCallersApart;
	}

	@Override
	public void afterSingletonsInstantiated() {
		// As the dispatcher servlet does.
		List<RequestMappingHandlerMapping> mappings = new ArrayList<>(BeanFactoryUtils
			.beansOfTypeIncludingAncestors(this.beanFactory, RequestMappingHandlerMapping.class, true, false)
			.values());
		AnnotationAwareOrderComparator.sort(mappings);
		mappings.forEach(new AsyncAdvice(this.beanFactory)::check);
		this.report.addHandlers(this.operations.load(mappings, this.settings, this.defaults, this.transactionSource),
				this.settings.requiredFor());
		if (this.beanFactory.getBeanProvider(OneTimeTokens.class).getIfAvailable() == null) {
			this.operations.rejectTokenKeys();
		}
		if (this.tellsCallersApart) {
			this.operations.requireCallersOfCancels();
		}
		else {
			this.operations.rejectFingerprintKeys();
		}
	}

}
