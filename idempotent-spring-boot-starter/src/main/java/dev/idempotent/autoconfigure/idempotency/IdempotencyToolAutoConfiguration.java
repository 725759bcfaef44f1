package dev.idempotent.autoconfigure.idempotency;

import java.security.Principal;
import java.util.Objects;
import java.util.Set;
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
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.transaction.interceptor.TransactionInterceptor;
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

	private static final String CALLERS_OF_REQUESTS = "idempotentToolCallerResolver";

	private static final String PRINCIPALS = "idempotentPrincipalToolCallerResolver";

	@Bean
	@Lazy
	ToolCalls idempotentToolCalls(IdempotencyProperties.Tool properties, ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<ToolRefusalRenderer> renderer, ObjectProvider<McpServerTools> mcp,
			ObjectProvider<ToolCalls.Requests> requests) {
		// The class does not tell whose it is: it may be a proxy.
		NamedBeanHolder<ToolCallerResolver> callers = beanFactory.resolveNamedBean(ToolCallerResolver.class);
		McpServerTools served = mcp.getIfAvailable(() -> McpServerTools.NONE);
		boolean ofApplication = !Set.of(CALLERS_OF_REQUESTS, PRINCIPALS).contains(callers.getBeanName());
		return new ToolCalls(callers.getBeanInstance(), ofApplication, properties::singleCaller, served.overStdio(),
				requests.getIfAvailable(() -> ToolCalls.Requests.NONE), ChatToolBeanPostProcessor.streams(),
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

	@Bean(PRINCIPALS)
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
	static class WithRequests {

		@Bean
		HttpRequests idempotentToolRequests(ApplicationContext context) {
			return new HttpRequests(context);
		}

		@Bean(CALLERS_OF_REQUESTS)
		@ConditionalOnMissingBean
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
	 * Loaded only if there are requests of HTTP. A dispatcher servlet may have a context
	 * within the context of the tools.
	 */
	static final class HttpRequests implements ToolCalls.Requests, ApplicationListener<ContextRefreshedEvent> {

		private volatile boolean served;

		HttpRequests(ApplicationContext context) {
			this.served = Stream.iterate(context, Objects::nonNull, ApplicationContext::getParent)
				.anyMatch(WebApplicationContext.class::isInstance);
		}

		@Override
		public void onApplicationEvent(ContextRefreshedEvent event) {
			if (event.getApplicationContext() instanceof WebApplicationContext) {
				this.served = true;
			}
		}

		@Override
		public boolean areServed() {
			return this.served;
		}

		@Override
		public @Nullable String address() {
			return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)
					? ClientAddress.of(attributes.getRequest()) : null;
		}

	}

}
