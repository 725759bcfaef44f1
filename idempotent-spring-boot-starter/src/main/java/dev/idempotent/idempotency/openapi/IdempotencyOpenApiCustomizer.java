package dev.idempotent.idempotency.openapi;

import java.util.Map;

import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.idempotency.web.IdempotentOperations;
import dev.idempotent.idempotency.web.OperationDescription;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.web.method.HandlerMethod;

/**
 * Adds the headers and the problems of idempotent operations to each OpenAPI document of
 * the application.
 */
public final class IdempotencyOpenApiCustomizer implements GlobalOperationCustomizer, GlobalOpenApiCustomizer {

	/**
	 * Carries the handler to the second step, which knows the path. Then it is removed.
	 */
	private static final String HANDLER = "x-idempotency-handler";

	private final IdempotentOperations operations;

	private final IdempotencyWebSettings settings;

	/**
	 * Creates the customizer.
	 * @param operations the operations
	 * @param settings the settings that they are described with
	 */
	public IdempotencyOpenApiCustomizer(IdempotentOperations operations, IdempotencyWebSettings settings) {
		this.operations = operations;
		this.settings = settings;
	}

	@Override
	public Operation customize(Operation operation, HandlerMethod handler) {
		operation.addExtension(HANDLER, handler);
		return operation;
	}

	@Override
	public void customise(OpenAPI document) {
		if (document.getPaths() != null) {
			document.getPaths().forEach((path, item) -> customise(document, path, item));
		}
	}

	private void customise(OpenAPI document, String path, PathItem item) {
		item.readOperationsMap().forEach((method, operation) -> {
			OperationDescription description = OperationDescription.of(this.operations, this.settings,
					takeHandler(operation), method.name(), path);
			if (description != null) {
				new DocumentedOperation(operation, description).complete(componentsOf(document));
			}
		});
	}

	private static @Nullable HandlerMethod takeHandler(Operation operation) {
		Map<String, Object> extensions = operation.getExtensions();
		Object handler = (extensions != null) ? extensions.remove(HANDLER) : null;
		if (extensions != null && extensions.isEmpty()) {
			operation.setExtensions(null);
		}
		return (HandlerMethod) handler;
	}

	private static Components componentsOf(OpenAPI document) {
		if (document.getComponents() == null) {
			document.setComponents(new Components());
		}
		return document.getComponents();
	}

}
