package dev.idempotent.autoconfigure.idempotency;

import java.security.Principal;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.idempotent.idempotency.tool.ChatClientBeanPostProcessor;
import dev.idempotent.idempotency.tool.ChatToolBeanPostProcessor;
import dev.idempotent.idempotency.tool.McpToolBeanPostProcessor;
import dev.idempotent.idempotency.tool.ToolCallerAdvisor;
import dev.idempotent.idempotency.tool.ToolCallerResolver;
import dev.idempotent.idempotency.tool.ToolCalls;
import dev.idempotent.idempotency.tool.ToolRefusalRenderer;
import dev.idempotent.idempotency.web.ClientAddress;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.idempotency.web.PrincipalScopeResolver;
import io.modelcontextprotocol.server.McpServerFeatures;
import jakarta.servlet.ServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import tools.jackson.databind.json.JsonMapper;

/**
 * Auto-configuration for {@code @Idempotent} methods that are tools of Spring AI.
 */
@AutoConfiguration(after = { IdempotencyMethodAutoConfiguration.class, IdempotencyWebAutoConfiguration.class })
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnClass({ Tool.class, JsonMapper.class, TransactionInterceptor.class })
@EnableConfigurationProperties(IdempotencyProperties.Tool.class)
final class IdempotencyToolAutoConfiguration {

	private static final boolean WITH_REQUESTS = Stream
		.of("jakarta.servlet.ServletRequest", "org.springframework.web.context.request.RequestContextHolder")
		.allMatch((type) -> ClassUtils.isPresent(type, IdempotencyToolAutoConfiguration.class.getClassLoader()));

	/**
	 * A resolver of the application tells tenants apart, also where there is no request.
	 */
	@Bean
	@Lazy
	ToolCalls idempotentToolCalls(IdempotencyProperties.Tool properties, ToolCallerResolver callers,
			ObjectProvider<ToolRefusalRenderer> renderer, ObjectProvider<McpServerTools> mcp,
			ApplicationContext context) {
		McpServerTools served = mcp.getIfAvailable(() -> McpServerTools.NONE);
		return new ToolCalls(callers, properties::singleCaller, served.overStdio(),
				WITH_REQUESTS ? new HttpRequests(context instanceof WebApplicationContext,
						!(callers instanceof CallersOfRequests)) : ToolCalls.Requests.NONE,
				ChatToolBeanPostProcessor.streams(),
				renderer.getIfAvailable(() -> (refusal) -> refusal.reason().sentence()), served.failures(),
				RefusedWork::reasonOf, ChatToolBeanPostProcessor::conversationIn);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static ChatToolBeanPostProcessor idempotentChatTools() {
		return new ChatToolBeanPostProcessor();
	}

	@Bean
	@ConditionalOnBean(name = "idempotentMethodsCheck")
	ToolMethodsCheck idempotentToolsCheck(ConfigurableListableBeanFactory beanFactory) {
		return new ToolMethodsCheck(beanFactory);
	}

	@Bean
	@ConditionalOnMissingBean
	ToolCallerResolver idempotentPrincipalToolCallerResolver() {
		return IdempotencyToolAutoConfiguration::authenticatedCaller;
	}

	private static @Nullable String authenticatedCaller() {
		Principal principal = AuthenticatedPrincipals.current();
		String name = (principal != null) ? principal.getName() : null;
		if (principal == null || name == null || name.isBlank()) {
			return null;
		}
		return PrincipalScopeResolver.scopeOf(AuthenticatedPrincipals.issuerOf(principal), name);
	}

	/**
	 * What the tools of an MCP server need, and the tools of this process do not.
	 *
	 * @param overStdio whether the server has one client
	 * @param failures recognizes results that stand for a failure
	 */
	record McpServerTools(BooleanSupplier overStdio, Predicate<Object> failures) {

		static final McpServerTools NONE = new McpServerTools(() -> false, (result) -> false);

	}

	/**
	 * For MCP servers.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(McpServerFeatures.class)
	static class WithMcp {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static McpToolBeanPostProcessor idempotentMcpTools(ObjectProvider<IdempotencyProperties.Tool> properties) {
			return new McpToolBeanPostProcessor(
					() -> properties.stream().flatMap((tool) -> tool.metaNames().stream()).toList());
		}

		@Bean
		McpServerTools idempotentMcpServerTools(McpToolBeanPostProcessor mcp) {
			return new McpServerTools(mcp::isOverStdio, McpToolBeanPostProcessor::isFailure);
		}

	}

	/**
	 * A tool that is called in an HTTP request has the caller of the request.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ServletRequest.class, RequestContextHolder.class })
	@ConditionalOnMissingBean(ToolCallerResolver.class)
	static class WithRequests {

		@Bean
		ToolCallerResolver idempotentToolCallerResolver(ObjectProvider<IdempotencyScopeResolver> scopes) {
			return new CallersOfRequests(scopes);
		}

	}

	/**
	 * For tools that are called in the streams of models.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ChatClient.class)
	static class WithChatClient {

		@Bean
		ToolCallerAdvisor idempotentToolCallerAdvisor(ObjectProvider<ToolCalls> calls) {
			return new ToolCallerAdvisor(calls::getObject);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static ChatClientBeanPostProcessor idempotentChatClients(ObjectProvider<ToolCallerAdvisor> advisor) {
			return new ChatClientBeanPostProcessor(advisor::getObject);
		}

	}

	/**
	 * Loaded only if there are requests of HTTP.
	 */
	private record CallersOfRequests(ObjectProvider<IdempotencyScopeResolver> scopes) implements ToolCallerResolver {

		@Override
		public @Nullable String resolveCaller() {
			IdempotencyScopeResolver scope = this.scopes.getIfAvailable();
			if (scope != null
					&& RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes) {
				return scope.resolveScope(attributes.getRequest());
			}
			// The name alone would be the caller of two tenants that a resolver of the
			// application tells apart.
			return (scope == null || scope instanceof PrincipalScopeResolver) ? authenticatedCaller() : null;
		}

	}

	/**
	 * Loaded only if there are requests of HTTP.
	 */
	private record HttpRequests(boolean areServed, boolean callersSuffice) implements ToolCalls.Requests {

		@Override
		public @Nullable String address() {
			if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)) {
				return null;
			}
			return this.callersSuffice ? "" : ClientAddress.of(attributes.getRequest());
		}

	}

}
