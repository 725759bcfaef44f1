package dev.idempotent.idempotency.tool;

import java.util.function.Supplier;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.DefaultChatClient;
import org.springframework.ai.chat.client.DefaultChatClient.DefaultChatClientRequestSpec;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Adds the {@link ToolCallerAdvisor} to the clients of models, and to their builders.
 */
public final class ChatClientBeanPostProcessor implements BeanPostProcessor {

	private final Supplier<ToolCallerAdvisor> advisor;

	/**
	 * Creates a post-processor.
	 * @param advisor supplies the advisor, for the first client
	 */
	public ChatClientBeanPostProcessor(Supplier<ToolCallerAdvisor> advisor) {
		this.advisor = advisor;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof ChatClient.Builder builder) {
			builder.defaultAdvisors(this.advisor.get());
		}
		return (bean.getClass() == DefaultChatClient.class) ? withAdvisor((DefaultChatClient) bean) : bean;
	}

	/**
	 * A prompt has all defaults of its client, of which a builder may leave some out.
	 */
	private ChatClient withAdvisor(DefaultChatClient client) {
		if (!(client.prompt() instanceof DefaultChatClientRequestSpec defaults)
				|| defaults.getAdvisors().stream().anyMatch(ToolCallerAdvisor.class::isInstance)) {
			return client;
		}
		defaults.advisors(this.advisor.get());
		return new DefaultChatClient(defaults);
	}

}
