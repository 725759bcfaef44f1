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
			return builder.defaultAdvisors(this.advisor.get());
		}
		boolean lacksAdvisor = bean.getClass() == DefaultChatClient.class
				&& ((DefaultChatClient) bean).prompt() instanceof DefaultChatClientRequestSpec spec
				&& spec.getAdvisors().stream().noneMatch(ToolCallerAdvisor.class::isInstance);
		return lacksAdvisor ? ((DefaultChatClient) bean).mutate().defaultAdvisors(this.advisor.get()).build() : bean;
	}

}
